"""Finds the typed values of a clause: money, dates, times, measures, addresses, codes, closed classes.

A pattern per kind, the most specific first; every repetition in them is bounded, so none is quadratic. Ours.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from calm.rules.lexicon import CLASS_VALUES
from calm.rules.quantities import Value
from calm.rules.stems import stem

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen"
    " eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
NUMBER_WORDS: dict[str, int] = {w: n for n, w in enumerate(_ONES)} | {w: 20 + 10 * i for i, w in enumerate(_TENS)}
NUMBER_WORDS |= {f"{t}-{o}": 20 + 10 * i + n for i, t in enumerate(_TENS) for n, o in enumerate(_ONES[1:10], 1)}
NUMBER_WORDS |= {
    "dozen": 12,
    "a dozen": 12,
    "once": 1,
    "twice": 2,
    "thrice": 3,
    "hundred": 100,
    "single": 1,
    "a single": 1,
}
ORDINALS: dict[str, int] = {
    w: n
    for n, w in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split(), 1
    )
}
_WORD_NUMBER = "|".join(sorted(map(re.escape, NUMBER_WORDS), key=len, reverse=True))
_NUM = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,12}(?:\.\d{1,6})?"
_MONTHS = "january february march april may june july august september october november december".split()
_MONTH_OF = {m: i for i, m in enumerate(_MONTHS, 1)} | {m[:3]: i for i, m in enumerate(_MONTHS, 1)} | {"sept": 9}
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?"
    r"(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_DAY_OF = (
    {d: i for i, d in enumerate(_DAYS)} | {d[:3]: i for i, d in enumerate(_DAYS)} | {"tues": 1, "thurs": 3, "thur": 3}
)

_UNIT_TABLES = {
    "duration": "second seconds sec secs=1|minute minutes min mins=60|hour hours hr hrs h=3600|day"
    " days=86400|night nights=86400"
    "|week weeks=604800|fortnight fortnights=1209600|month months=2629800|year years yr yrs=31557600",
    "length": "mm millimetre millimetres=0.001|cm centimetre centimetres centimeters=0.01|m metre metres"
    " meter meters=1"
    "|km kilometre kilometres kilometer kilometers kms=1000|mile miles mi=1609.344|inch inches=0.0254|"
    "foot feet ft=0.3048"
    "|yard yards=0.9144",
    "mass": "mg milligram milligrams=0.000001|g gram grams gramme grammes=0.001|kg kilo kilos kilogram"
    " kilograms kgs=1"
    "|lb lbs pound pounds=0.45359237|stone=6.35029|tonne tonnes=1000|oz ounce ounces=0.0283495",
    "volume": "ml millilitre millilitres=0.001|cl=0.01|l litre litres liter liters=1|pint pints=0.568"
    "|gallon gallons=4.546",
    "data": "kb=0.001|mb=1|gb=1000|tb=1000000",
    "bandwidth": "mbps mbit mbit/s=1|gbps gbit gbit/s=1000|kbps=0.001",
    "frequency_hz": "hz=1|khz=1000|mhz=1000000|ghz=1000000000",
    "power": "w watt watts=1|kw=1000|mw=1000000",
    "speed": "km/h kmh kph=1|mph=1.609344",
    "percent": "% percent pct=1",
    "area": "sqm m²=1|acre acres=4046.86|hectare hectares ha=10000",
}


def _units() -> dict[str, tuple[str, float]]:
    units: dict[str, tuple[str, float]] = {}
    for kind, table in _UNIT_TABLES.items():
        for entry in table.split("|"):
            names, factor = entry.split("=")
            units.update({name: (kind, float(factor)) for name in names.split()})
    return units


_UNITS = _units()
"""Unit as written -> kind and factor to the kind's base unit."""
_CURRENCY = {
    "€": "eur", "euro": "eur", "euros": "eur", "eur": "eur", "$": "usd", "dollar": "usd", "dollars": "usd",
    "usd": "usd", "£": "gbp",
    "quid": "gbp", "gbp": "gbp", "francs": "chf", "franc": "chf", "chf": "chf", "¥": "jpy", "yen": "jpy",
    "crowns": "crown",
    "kr": "crown", "zł": "pln", "zloty": "pln", "rupees": "inr", "pence": "gbp/100", "cents": "cent",
    "bucks": "usd",
}  # fmt: skip
_SCALES = {"k": 1e3, "thousand": 1e3, "million": 1e6, "m": 1e6, "billion": 1e9, "bn": 1e9, "hundred": 1e2}
_SCALE = r"(?:\s?(?P<scale>k|thousand|million|billion|bn|hundred)\b)?"
_UNIT_WORDS = "|".join(sorted((re.escape(u) for u in _UNITS), key=len, reverse=True))
_CURRENCY_WORDS = "|".join(sorted((re.escape(c) for c in _CURRENCY if c.isalpha()), key=len, reverse=True))


def _number(text: str) -> float:
    low = text.lower().strip()
    return float(NUMBER_WORDS[low]) if low in NUMBER_WORDS else float(low.replace(",", ""))


def _scaled(match: re.Match[str]) -> float:
    return _number(match["n"]) * _SCALES.get((match["scale"] or "").lower(), 1.0)


def _email(match: re.Match[str]) -> Value:
    return Value("email", (match[0].lower(),), "", match.start(), match.end())


def _url(match: re.Match[str]) -> Value:
    return Value(
        "host",
        (match[0].lower().rstrip("/.").removeprefix("https://").removeprefix("http://"),),
        "",
        *match.span(),
    )


def _phone(match: re.Match[str]) -> Value | None:
    digits = re.sub(r"\D", "", match[0])
    return Value("phone", (digits[-9:],), "", *match.span()) if 8 <= len(digits) <= 15 else None


def _iso_date(match: re.Match[str]) -> Value:
    return Value("date", (int(match[1]), int(match[2]), int(match[3])), "", *match.span())


def _date(match: re.Match[str]) -> Value | None:
    name = (match["mon"] or match["mon2"]).lower().rstrip(".")
    day = int(match["day"] or match["day2"])
    year = match["y"] or match["y2"]
    month = _MONTH_OF.get(name)
    if month is None or not 1 <= day <= 31:
        return None
    return Value("date", (int(year) if year else None, month, day), "", *match.span())


def _slashed(match: re.Match[str]) -> Value | None:
    """14/03: day and month in either order."""
    first, second, year = (match[1], match[2], match[3]) if match[1] else (match[4], match[5], None)
    low, high = sorted((int(first), int(second)))
    if not (1 <= low <= 12 and 1 <= high <= 31):
        return None
    full = None if year is None else int(year) + (2000 if len(year) == 2 else 0)
    return Value("date", (full, low, high), "/", *match.span())


def _composite(match: re.Match[str]) -> Value:
    amount = _number(match["a"]) * (100 if match["u"].lower() == "hundred" else 12) + (
        _number(match["b"]) if match["b"] else 0
    )
    return Value("number", (amount,), "", *match.span())


def _hours_minutes(match: re.Match[str]) -> Value:
    return Value("duration", (float(int(match["h"]) * 3600 + int(match["m"]) * 60),), "h", *match.span())


def _month(match: re.Match[str]) -> Value | None:
    month = _MONTH_OF.get(match["mon"].lower())
    if month is None or not match["mon"][0].isupper():
        return None
    year = match["y"]
    return Value("date", (int(year) if year else None, month, None), "", *match.span())


def _clock(match: re.Match[str]) -> Value | None:
    hour, minute = int(match["h"]), int(match["m"] or 0)
    half = (match["ap"] or "").lower().replace(".", "")
    if hour > 24 or minute > 59 or (half and not 1 <= hour <= 12):
        return None
    if half:
        hour = hour % 12 + (12 if half == "pm" else 0)
    certain = bool(half) or hour >= 13 or match["h"].startswith("0") or hour == 0
    return Value("time", (hour * 60 + minute, certain), "", *match.span())


def _spoken_clock(match: re.Match[str]) -> Value:
    hour = int(_number(match["h"]))
    minutes = {"half past": 30, "half": 30, "quarter past": 15, "quarter to": -15}[match["part"].lower()]
    return Value("time", ((hour * 60 + minutes) % 1440, False), "", *match.span())


def _at_hour(match: re.Match[str]) -> Value:
    return Value("time", (int(_number(match["h"])) * 60, False), "", *match.span("h"))


def _noon(match: re.Match[str]) -> Value:
    return Value("time", (720 if match[0].lower() in ("noon", "midday") else 0, True), "", *match.span())


def _money(match: re.Match[str]) -> Value:
    currency = _CURRENCY[(match["cur"] or match["cur2"]).lower()]
    amount = _number(match["n"] or match["n2"]) * _SCALES.get((match["s1"] or match["s2"] or "").lower(), 1.0)
    return Value("money", (round(amount, 4),), currency, *match.span())


def _measure(match: re.Match[str]) -> Value | None:
    kind, factor = _UNITS[match["u"].lower()]
    amount = _scaled(match) * factor
    rest = match["n2"]
    if rest:
        kind2, factor2 = _UNITS[match["u2"].lower()]
        if kind2 == kind and factor2 < factor:
            amount += _number(rest) * factor2
            return Value(kind, (amount,), match["u"].lower(), *match.span())
    return Value(kind, (amount,), stem(match["u"].lower()), match.start(), match.end("u"))


def _version(match: re.Match[str]) -> Value:
    parts = tuple(int(p) for p in re.findall(r"\d+", match["v"]))
    return Value("version", parts, "", match.start("v"), match.end("v"))


def _code(match: re.Match[str]) -> Value | None:
    text = match[0]
    if not (any(c.isdigit() for c in text) and any(c.isalpha() for c in text)):
        return None
    return Value("code", (re.sub(r"[\s\-]", "", text).upper(),), "", *match.span())


def _weekday(match: re.Match[str]) -> Value | None:
    days = frozenset(
        _DAY_OF[d.lower().rstrip("s") if d.lower() not in _DAY_OF else d.lower()] for d in _WEEKDAY.findall(match[0])
    )
    return Value("weekday", tuple(sorted(days)), "", *match.span())


def _dashed(match: re.Match[str]) -> Value:
    return Value("code", (match[0],), "", *match.span())


def _year(match: re.Match[str]) -> Value:
    return Value("date", (int(match["y"]), None, None), "", *match.span())


def _ordinal(match: re.Match[str]) -> Value:
    text = match["o"].lower()
    rank = ORDINALS[text] if text in ORDINALS else int(re.sub(r"\D", "", text))
    return Value("ordinal", (rank,), "", *match.span())


def _plain(match: re.Match[str]) -> Value | None:
    if match["n"].lower() in ("one", "single", "hundred") and not re.match(r"\s[a-z]{3,}", match.string[match.end() :]):
        return None
    if match["n"].lower() == "one" and re.search(
        r"\b(?:the|this|that|which|no|best|other|last|first|new|only|each|every|any)\s$",
        match.string[: match.start()][-8:],
    ):
        return None
    return Value("number", (round(_scaled(match), 6),), "", *match.span())


_WEEKDAY = re.compile(r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|Mon|Tue|Tues|Wed|Thu|Thur|Thurs|Fri)\b", re.I)
_DAY_WORD = r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?-i:Mon|Tues?|Wed|Thur?s?|Fri)(?![a-z]))"
_HOURS = r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\d{1,2})"
_DAY = r"(?:0?[1-9]|[12]\d|3[01])"
_EXTRACTORS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Value | None]], ...] = (
    (re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}"), _email),
    (re.compile(r"https?://[^\s,;)\"']{1,200}|\b(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?\b|\b"
                r"(?:[a-z0-9-]{1,40}\.){1,4}(?:com|org|net|io|dev|example|local|"
                r"internal|de|eu|co\.uk)(?::\d{1,5})?\b", re.I), _url),
    (re.compile(r"(?<![\w.])(\d{4})-(\d{2})-(\d{2})(?![\w-])"), _iso_date),
    (re.compile(r"(?<![\w-])(?:\+\d{1,3}[ -]?)?(?:\(?0\d{1,4}\)?|\d{2,4})(?:[ -]\d{2,4}){2,4}"
                r"(?![\w-])"), _phone),
    (re.compile(rf"\b(?:(?P<day>{_DAY})(?:st|nd|rd|th)?(?: of)? (?P<mon>{_MONTH})\b\.?(?:,? (?P<y>(?:19"
                rf"|20)\d\d))?"
                rf"|(?P<mon2>{_MONTH})\.? (?P<day2>{_DAY})(?:st|nd|rd|th)?(?![\d:])(?:,? (?P<y2>(?:19"
                rf"|20)\d\d))?)(?!\w)", re.I), _date),
    (re.compile(r"(?<![\w/.])(\d{1,2})[/.](\d{1,2})[/.]((?:\d\d)?\d\d)(?![\w/])|(?<![\w/])(\d{1,2})/"
                r"(\d{2})(?![\w/])"), _slashed),
    (re.compile(rf"\b(?P<a>{_WORD_NUMBER}|\d{{1,2}}) (?P<u>hundred|dozen)(?: and)?(?: "
                rf"(?P<b>{_WORD_NUMBER}))?\b(?! (?:hundred|dozen|thousand))", re.I), _composite),
    (re.compile(r"\b(?P<h>\d{1,2}) ?h ?(?P<m>\d{2})\b", re.I), _hours_minutes),
    (re.compile(rf"\b(?:(?P<part>half past|half|quarter past|quarter to) (?P<h>{_HOURS}))\b(?! (?:hour"
                rf"|day|week|year|month))", re.I), _spoken_clock),
    (re.compile(r"(?<![\w.:/])(?P<h>\d{1,2})(?:[:.](?P<m>\d{2}))?\s?"
                r"(?P<ap>[ap]\.?m\.?)(?!\w)", re.I), _clock),
    (re.compile(r"(?<![\w.:/-])(?P<h>\d{1,2}):(?P<m>\d{2})(?P<ap>)(?![\w:])"), _clock),
    (re.compile(r"\b(?:noon|midday|midnight)\b", re.I), _noon),
    (re.compile(rf"(?<!\w)(?P<cur>[€$£¥])\s?(?P<n>{_NUM})(?:\s?(?P<s1>k|m|million|billion|thousand)\b)?|"
                rf"(?<![\w.])(?P<n2>{_NUM}|{_WORD_NUMBER})"
                rf"(?:\s?(?P<s2>k|million|billion|thousand)\b)?\s?(?P<cur2>[€$£¥]|"
                rf"(?:{_CURRENCY_WORDS})\b)", re.I), _money),
    (re.compile(rf"(?<![\w.])(?P<n>{_NUM}|{_WORD_NUMBER}|a|an)(?P<scale>(?<=\d)k\b)?[\s-]?"
                rf"(?P<u>{_UNIT_WORDS})(?![\w/])"
                rf"(?:\s(?P<n2>{_NUM})\s?(?P<u2>{_UNIT_WORDS})"
                rf"(?!\w))?", re.I), lambda m: _measure(m) if m["n"].lower() not in ("a", "an") else None),
    (re.compile(r"\b(?:version |v\.? ?|release )(?P<v>\d{1,4}(?:\.\d{1,4}){0,3})\b|(?<![\w.])"
                r"(?P<v2>\d{1,4}\.\d{1,4}\.\d{1,4})\b", re.I),
     lambda m: _version(m) if m["v"] else Value("version", tuple(int(p) for p in m["v2"].split(".")), "",
     *m.span())),
    (re.compile(rf"\b{_DAY_WORD}(?:(?:, | and |, and | & |/){_DAY_WORD}){{0,5}}\b", re.I), _weekday),
    (re.compile(rf"\b(?:in|of|since|until|till|by|every|last|next) (?P<mon>{_MONTH})\b(?: (?P<y>(?:19"
                rf"|20)\d\d))?", re.I), _month),
    (re.compile(r"\b(?:in|since|from|until|by|of|during) (?P<y>(?:19|20)\d\d)(?![\w-])", re.I), _year),
    (re.compile(rf"\bat (?P<h>{_HOURS})(?=\s*(?:[.,;!)]|$|on\b|sharp|o'clock|from\b|every\b|in the\b"
                rf"|these\b|now\b))(?!,\d)", re.I), _at_hour),
    (re.compile(r"(?<!\w)(?:[A-Z]{1,4}[ -]?\d{2,6}[A-Z]{0,3}|[A-Z]{1,3}\d{1,3}[ -][A-Z]{2,3}"
                r"|\d{1,4}-[A-Z]{1,4}|\d{1,3}[A-Z]|[A-Z]\d|[a-z]{1,8}-\d{1,4})(?![\w-])"), _code),
    (re.compile(r"(?<![\w-])(?:\d{1,4}(?:-\d{1,4}){2,4}|\d{3,6}-\d{2,6})(?![\w-])"), _dashed),
    (re.compile(rf"(?<!at )\b(?P<o>{'|'.join(ORDINALS)}|\d{{1,2}}(?:st|nd|rd|th))\b(?! (?:name|thing|time"
                rf"|of|class|aid|hand|language)\b)", re.I), _ordinal),
    (re.compile(rf"(?<![\w.'-])(?P<n>{_NUM}|{_WORD_NUMBER}){_SCALE}(?![\w-]|\.\d|'s)", re.I), _plain),
)  # fmt: skip
_NEED_DIGITS = (_phone, _iso_date, _date, _slashed, _hours_minutes, _clock, _code, _dashed, _year, _version)
_CLASS_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)?")


def extract(clause: str) -> list[Value]:
    """The typed values of a clause in order of position; spans never overlap, the more specific kind wins."""
    taken = bytearray(len(clause))
    found: list[Value] = []
    digits = any(c.isdigit() for c in clause)
    for pattern, build in _EXTRACTORS:
        if not digits and build in _NEED_DIGITS:
            continue
        for match in pattern.finditer(clause):
            if any(taken[match.start() : match.end()]):
                continue
            value = build(match)
            if value is not None:
                found.append(value)
                taken[value.start : value.end] = b"\x01" * (value.end - value.start)
    for match in _CLASS_WORD.finditer(clause):
        known = CLASS_VALUES.get(match[0].lower())
        if known is not None and not any(taken[match.start() : match.end()]):
            found.append(Value(known[0], (known[1],), "", *match.span()))
    return sorted(found, key=lambda v: v.start)
