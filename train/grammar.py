"""The words of generated pairs: attributes with their values, how people state them, and how they tell a change.

Templates: {v} the value, {n} a name, {p} the name's possessive. Ours, written for this project.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

Values = Callable[[random.Random], str]


@dataclass(frozen=True, slots=True)
class Attribute:
    """One thing of which somebody has one at a time. `first`, `third`, `note` state it, the `_change`s tell a new
    value.

    `detail` adds to a statement without changing it; `additive` statements of the same topic stand beside it.
    """

    name: str
    values: Values
    first: tuple[str, ...]
    third: tuple[str, ...]
    note: tuple[str, ...]
    first_change: tuple[str, ...]
    third_change: tuple[str, ...]
    detail: tuple[str, ...]
    additive: tuple[str, ...]


def _one_of(text: str) -> Values:
    options = tuple(text.split("|"))
    return lambda rng: rng.choice(options)


def _number(low: int, high: int, step: int, form: str = "{:,}") -> Values:
    return lambda rng: form.format(rng.randrange(low, high, step))


def _date(rng: random.Random) -> str:
    return f"{rng.randrange(1, 29)} {rng.choice(MONTHS)}"


def _clock(rng: random.Random) -> str:
    return f"{rng.randrange(7, 21)}:{rng.choice(('00', '15', '30', '45'))}"


def _phone(rng: random.Random) -> str:
    return f"0{rng.randrange(100, 999)} 555 {rng.randrange(1000, 9999)}"


def _email(rng: random.Random) -> str:
    return f"{rng.choice(HANDLES)}{rng.randrange(1, 99)}@{rng.choice(('post', 'mailbox', 'inbox'))}.example"


def _version(rng: random.Random) -> str:
    return f"{rng.randrange(1, 9)}.{rng.randrange(0, 20)}"


MONTHS = (
    "January February March April May June July August September October November December".split()
)  # fmt: skip
HANDLES = "fern otter quill maple heron basil cobalt juniper".split()
NAMES = (
    "Amara Bjorn Celeste Dario Elif Farid Greta Hamza Ingrid Joaquin Keiko Lorenz Mirela Nadia Oskar Priya Quentin"
    " Rosalind Sunniva Tomasz Ulla Viktor Wanda Yusuf Zofia"
).split()
PEOPLE = "my sister|my brother|my neighbour|my colleague|my landlord|my cousin|my flatmate|our accountant".split("|")
CITIES = _one_of(
    "Tampere|Bergen|Porto|Ghent|Leipzig|Lyon|Turin|Graz|Krakow|Aarhus|Utrecht|Malmo|Bilbao|Cork|Basel|Nantes"
)
FIRMS = _one_of(
    "Norbex|Calder & Sons|Quillon Foods|Halvorsen|Telvia|Brightmoor|Osprey Labs|Kestrel Rail|Fjordline|Pinewell"
)

ATTRIBUTES: tuple[Attribute, ...] = (
    Attribute(
        "city", CITIES,
        ("I live in {v}.", "My home is in {v}.", "I'm based in {v}."),
        ("{n} lives in {v}.", "{p} home is in {v}.", "{n} is based in {v}."),
        ("{n}: city {v}", "Home city of {n} is {v}"),
        ("I moved to {v}.", "I've settled in {v} now.", "Since the spring I live in {v}."),
        ("{n} moved to {v}.", "{n} has relocated to {v}.", "{n} lives in {v} these days."),
        ("close to the station", "in a small flat", "near the river"),
        ("{n} has been to {v} twice.", "{n} owns a holiday hut near {v}."),
    ),
    Attribute(
        "employer", FIRMS,
        ("I work at {v}.", "My employer is {v}.", "I'm employed by {v}."),
        ("{n} works at {v}.", "{p} employer is {v}.", "{n} is employed by {v}."),
        ("{n}: employer {v}", "Employer of {n} is {v}"),
        ("I started at {v} last week.", "I've switched jobs and work at {v} now.", "I joined {v}."),
        ("{n} joined {v}.", "{n} has a new job at {v}.", "{n} left and works at {v} now."),
        ("in the billing team", "four days a week", "as an engineer"),
        ("{n} knows two people at {v}.", "{n} gave a talk at {v}."),
    ),
    Attribute(
        "phone", _phone,
        ("My phone number is {v}.", "You reach me on {v}.", "My mobile is {v}."),
        ("{p} phone number is {v}.", "You reach {n} on {v}."),
        ("{n}: phone {v}", "Mobile of {n} is {v}"),
        ("My new number is {v}.", "I changed my phone number to {v}.", "From now on call me on {v}."),
        ("{p} new number is {v}.", "{n} changed the phone number to {v}."),
        ("also for messages", "after six in the evening", "with the old contract"),
        ("The reception's phone number is {v}.", "The clinic's number is {v}."),
    ),
    Attribute(
        "email", _email,
        ("My e-mail address is {v}.", "Write to me at {v}."),
        ("{p} e-mail address is {v}.", "{n} reads mail at {v}."),
        ("{n}: e-mail {v}", "E-mail of {n} is {v}"),
        ("My e-mail address is now {v}.", "I closed the old mailbox, write to {v}."),
        ("{p} e-mail address is now {v}.", "{n} changed the address to {v}."),
        ("for invoices too", "without capitals", "checked daily"),
        ("The office's e-mail address is {v}.", "The newsletter comes from {v}."),
    ),
    Attribute(
        "version", _version,
        ("I run version {v} of the app.", "My app is on version {v}."),
        ("{n} runs version {v} of the app.", "{p} app is on version {v}."),
        ("{n}: app version {v}", "App version of {n} is {v}"),
        ("I upgraded the app to version {v}.", "The app is on version {v} since today."),
        ("{n} upgraded the app to version {v}.", "{p} app went to version {v}."),
        ("on the tablet", "with the beta flag", "behind the proxy"),
        ("The manual covers version {v}.", "Version {v} had a bug in the export."),
    ),
    Attribute(
        "deadline", _date,
        ("My thesis is due on {v}.", "The deadline of my thesis is {v}."),
        ("{p} thesis is due on {v}.", "The deadline of {p} thesis is {v}."),
        ("{n}: thesis deadline {v}", "Thesis deadline of {n} is {v}"),
        ("My thesis deadline was moved to {v}.", "I got an extension: my thesis is due on {v}."),
        ("{p} thesis deadline was moved to {v}.", "{n} got an extension, the thesis is due on {v}."),
        ("at noon", "as one file", "with two printed copies"),
        ("{n} has a dentist appointment on {v}.", "The library closes early on {v}."),
    ),
    Attribute(
        "rent", _number(600, 1900, 10, "{:,} euros"),
        ("My rent is {v} a month.", "I pay {v} in rent each month."),
        ("{p} rent is {v} a month.", "{n} pays {v} in rent each month."),
        ("{n}: monthly rent {v}", "Monthly rent of {n} is {v}"),
        ("My rent went up to {v} a month.", "Since the new contract I pay {v} in rent each month."),
        ("{p} rent went up to {v} a month.", "{n} now pays {v} in rent each month."),
        ("heating included", "due on the first", "by standing order"),
        ("{n} paid {v} for the sofa.", "The deposit was {v}."),
    ),
    Attribute(
        "wake", _clock,
        ("I get up at {v} on weekdays.", "My alarm rings at {v} on weekdays."),
        ("{n} gets up at {v} on weekdays.", "{p} alarm rings at {v} on weekdays."),
        ("{n}: weekday alarm {v}", "Weekday alarm of {n} is at {v}"),
        ("I get up at {v} on weekdays now.", "I moved my weekday alarm to {v}."),
        ("{n} gets up at {v} on weekdays now.", "{n} moved the weekday alarm to {v}."),
        ("without snoozing", "even in winter", "before the children"),
        ("The bus leaves at {v}.", "{n} has a call at {v}."),
    ),
    Attribute(
        "manager", lambda rng: rng.choice(NAMES),
        ("My manager is {v}.", "I report to {v}."),
        ("{p} manager is {v}.", "{n} reports to {v}."),
        ("{n}: manager {v}", "Manager of {n} is {v}"),
        ("My new manager is {v}.", "Since the reorganisation I report to {v}."),
        ("{p} new manager is {v}.", "Since the reorganisation {n} reports to {v}."),
        ("on the second floor", "for the whole group", "with monthly talks"),
        ("{n} had lunch with {v}.", "{v} sits next to {n}."),
    ),
    Attribute(
        "diet", _one_of("vegan|vegetarian|pescatarian|an omnivore"),
        ("I'm {v}.", "I am {v} and cook that way."),
        ("{n} is {v}.", "{n} is {v} and cooks that way."),
        ("{n}: diet {v}", "Diet of {n} is {v}"),
        ("I'm {v} now.", "Since January I'm {v}."),
        ("{n} is {v} now.", "Since January {n} is {v}."),
        ("at home and at work", "for the climate", "with few exceptions"),
        ("{n} booked a table at a {v} place.", "{n} likes a {v} cookbook."),
    ),
    Attribute(
        "car", _one_of("a Torvald hatchback|a Minato saloon|an old Brenta van|a Lindqvist estate|a Corsel coupe"),
        ("I drive {v}.", "My car is {v}."),
        ("{n} drives {v}.", "{p} car is {v}."),
        ("{n}: car {v}", "Car of {n} is {v}"),
        ("I sold the car and drive {v} now.", "My car is now {v}."),
        ("{n} sold the car and drives {v} now.", "{p} car is now {v}."),
        ("with winter tyres", "in dark green", "parked in the yard"),
        ("{n} rented {v} on holiday.", "{n} was passed by {v}."),
    ),
    Attribute(
        "dentist", lambda rng: f"Dr. {rng.choice(('Abel', 'Borg', 'Cole', 'Dunn', 'Ebers', 'Fay', 'Grimm', 'Hale'))}",
        ("My dentist is {v}.", "I go to {v} for my teeth."),
        ("{p} dentist is {v}.", "{n} goes to {v} for the teeth."),
        ("{n}: dentist {v}", "Dentist of {n} is {v}"),
        ("My dentist is now {v}.", "I changed my dentist to {v}."),
        ("{p} dentist is now {v}.", "{n} changed the dentist to {v}."),
        ("by the market", "every six months", "with parking"),
        ("{n} met {v} at a concert.", "{v} is a friend of {n}."),
    ),
    Attribute(
        "status", _one_of("open|in review|blocked|closed|on hold"),
        ("My ticket is {v}.", "The status of my ticket is {v}."),
        ("{p} ticket is {v}.", "The status of {p} ticket is {v}."),
        ("{n}: ticket {v}", "Ticket of {n} is {v}"),
        ("My ticket was set to {v}.", "Since this morning my ticket is {v}."),
        ("{p} ticket was set to {v}.", "Since this morning {p} ticket is {v}."),
        ("on the board", "with a red label", "by the vendor"),
        ("Another ticket is {v}.", "{n} once had a ticket that was {v}."),
    ),
    Attribute(
        "region", _one_of("eu-north|eu-west|us-east|ap-south|sa-east"),
        ("My backups are stored in {v}.", "The region of my backups is {v}."),
        ("{p} backups are stored in {v}.", "The region of {p} backups is {v}."),
        ("{n}: backup region {v}", "Backup region of {n} is {v}"),
        ("I moved my backups to {v}.", "My backups are now stored in {v}."),
        ("{n} moved the backups to {v}.", "{p} backups are now stored in {v}."),
        ("encrypted", "every night", "for a year"),
        ("{n} read an article on {v}.", "{p} logs are stored in {v}."),
    ),
    Attribute(
        "team", _one_of("the billing project|the search project|the atlas project|the payroll project|the map project"),
        ("I work on {v}.", "My project is {v}."),
        ("{n} works on {v}.", "{p} project is {v}."),
        ("{n}: project {v}", "Project of {n} is {v}"),
        ("I was moved to {v}.", "I've switched to {v}."),
        ("{n} was moved to {v}.", "{n} has switched to {v}."),
        ("until the release", "with two others", "full time"),
        ("{n} gave feedback on {v}.", "{n} wrote the report on {v}."),
    ),
    Attribute(
        "gym", _one_of("on Mondays|on Tuesdays|on Wednesdays|on Thursdays|on Saturdays"),
        ("I go to choir practice {v}.", "My choir practice is {v}."),
        ("{n} goes to choir practice {v}.", "{p} choir practice is {v}."),
        ("{n}: choir practice {v}", "Choir practice of {n} is {v}"),
        ("My choir practice is {v} now.", "They moved my choir practice, it is {v} now."),
        ("{p} choir practice is {v} now.", "They moved {p} choir practice, it is {v} now."),
        ("in the old school", "with the altos", "before supper"),
        ("{n} washes the car {v}.", "The market is {v}."),
    ),
    Attribute(
        "weight", _number(52, 110, 1, "{} kg"),
        ("I weigh {v}.", "My weight is {v}."),
        ("{n} weighs {v}.", "{p} weight is {v}."),
        ("{n}: weight {v}", "Weight of {n} is {v}"),
        ("I weigh {v} now.", "My weight went to {v}."),
        ("{n} weighs {v} now.", "{p} weight went to {v}."),
        ("before breakfast", "on the new scale", "without shoes"),
        ("{p} suitcase weighs {v}.", "{n} lifted {v}."),
    ),
    Attribute(
        "bank", _one_of("Nordbank|Spar & Co|Union Credit|Harbour Bank|First Alpine"),
        ("My bank is {v}.", "I have my salary account with {v}."),
        ("{p} bank is {v}.", "{n} has the salary account with {v}."),
        ("{n}: bank {v}", "Bank of {n} is {v}"),
        ("I moved my salary account to {v}.", "My bank is now {v}."),
        ("{n} moved the salary account to {v}.", "{p} bank is now {v}."),
        ("at the square", "online only", "with a joint card"),
        ("{n} read about {v} in the paper.", "{n} passed {v} on the way."),
    ),
    Attribute(
        "phone_model", _one_of("a Fernphone 4|a Pixelle 9|an Orbit Mini|a Halo X|a Nimbus 12"),
        ("My phone is {v}.", "I use {v} as my phone."),
        ("{p} phone is {v}.", "{n} uses {v} as a phone."),
        ("{n}: phone model {v}", "Phone model of {n} is {v}"),
        ("I switched to {v} as my phone.", "My phone is {v} now, the old one broke."),
        ("{n} switched to {v} as a phone.", "{p} phone is {v} now, the old one broke."),
        ("with a blue case", "on a prepaid card", "with two SIM cards"),
        ("{n} bought {v} for the children.", "{n} repaired {v} for a friend."),
    ),
    Attribute(
        "tea", _one_of("genmaicha|Earl Grey|rooibos|oolong|peppermint|lapsang"),
        ("My favourite tea is {v}.", "Of all teas I like {v} best."),
        ("{p} favourite tea is {v}.", "Of all teas {n} likes {v} best."),
        ("{n}: favourite tea {v}", "Favourite tea of {n} is {v}"),
        ("My favourite tea is {v} these days.", "I've changed my mind, my favourite tea is {v}."),
        ("{p} favourite tea is {v} these days.", "{n} has a new favourite tea, {v}."),
        ("without sugar", "in the afternoon", "from a glass pot"),
        ("{n} also drinks {v}.", "{n} served {v} to the guests."),
    ),
)  # fmt: skip
