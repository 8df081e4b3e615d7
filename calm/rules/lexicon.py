"""The words that the rules know: function words, cues of change, polar opposites, closed classes of values.

Everything here is a constant. Words are lower case; `tokens.stem` is applied where the sets are built. Ours: the
papers name "lexical rules" as one κ and leave the lexicon open.
"""

from __future__ import annotations

from calm.rules.stems import stem

FUNCTION_WORDS = frozenset(
    "a an the this that these those i me my mine myself we us our ours you your yours he him his she"
    " her hers it its they"
    " them their theirs who whom whose which what when where why how and or but nor so if then than"
    " as of in on at to for"
    " from by with into onto over under about between through during before after up down out near along via"
    " per within is are was were be been being am do does did done doing have has had having will"
    " would shall should can"
    " could may might must ought let lets 's s t d ll re ve m there here one's own each every all any"
    " some both either"
    " such same other others rather very too also just only even yet still already again quite really"
    " actually usually"
    " generally normally always often sometimes mostly basically simply now currently nowadays today"
    " these days lately"
    " recently anymore longer once since until till while because though although not no never none"
    " n't without instead"
    " wow haha lol aww aw yep yup thanks thank congrats absolutely gonna wanna hmm ah called named"
    " anything something anyone anybody everything user users please sorry ok okay well hi hey oh yes yeah got"
    " get gets getting gotten ones one's around upon off away back".split()
)
"""Words that carry no subject or attribute: they neither count as shared nor as a difference."""

LIGHT_WORDS = frozenset(
    "thing things stuff way lot lots bit kind sort good great nice bad best better big small little"
    " much many more most less"
    " few new old last next time day week month year people person someone somebody everyone"
    " everybody go goes going went"
    " gone come comes coming came make makes making made take takes taking took put puts say says"
    " said tell told think"
    " thinks thought know knows knew known see sees saw seen want wants wanted need needs needed like"
    " likes liked love loves"
    " loved feel feels felt look looks looked try tries tried use uses used give gives gave keep"
    " keeps kept turn turns"
    " turned about approximately roughly around nearly almost exactly approx circa least"
    " most maximum minimum"
    " total another definitely super pretty totally so whole bring help helps talk"
    " work works working number amount set stands comes became become remain remains severely strictly"
    " yesterday tomorrow tonight morning evening afternoon night awesome amazing cool fun glad happy"
    " hope sure".split()
)
"""Words too common to make a blocking key alone or in pairs; they still count as content when two texts are
aligned."""

INTENSIFIERS = frozenset(
    stem(word)
    for word in "severely strictly definitely super pretty totally completely fully extremely really"
    " whole exactly roughly"
    " approximately nearly almost approx circa about around just permanently officially".split()
)
"""Degree words: never a difference between two statements."""

KIN = frozenset(
    "brother sister mother father mum mom dad mam parent parents son daughter wife husband partner"
    " cousin aunt auntie uncle"
    " nephew niece grandma grandpa granny grandad granddad grandmother grandfather nan nana gran"
    " boyfriend girlfriend fiance"
    " fiancee fiancé fiancée spouse flatmate roommate housemate neighbour neighbor friend colleague"
    " coworker boss stepson"
    " stepdaughter stepbrother stepsister stepfather stepmother sibling twin ex godmother godfather"
    " godson goddaughter"
    " kid kids child children grandson granddaughter".split()
)
"""Whom a possessive can lead to: "my sister's dentist" is about the sister."""

ADDITIVE_WORDS = frozenset(
    "also too besides additionally another alongside plus additional extra additionally likewise"
    " moreover furthermore".split()
)
ADDITIVE_PHRASES = (
    "as well",
    "along with",
    "next to",
    "in addition",
    "together with",
    "on top of",
    "both of",
)
"""Signs that the newer text adds a value beside the older one."""

NEGATIONS = frozenset("not n't never no nobody none nothing neither nor without cannot hardly".split())
ENDINGS = frozenset(stem(w) for w in "stopped stop stops quit quits ceased ceases dropped abandoned lacks lack".split())
"""Verbs that deny what follows them: "stopped smoking"."""

HARMLESS_NEGATIONS = (
    "not only", "not just", "not even", "no doubt", "no problem", "no more than", "no later than",
    "no less than",
    "nothing but", "no one but", "not until", "can't wait", "cannot wait", "can not wait", "no matter",
    "why not",
    "not bad", "no worries", "no idea", "don't worry", "don't forget", "do not forget", "don't hesitate",
    "not to mention", "if not", "no wonder", "not sure", "never mind", "nothing beats", "not including",
)  # fmt: skip
"""Phrases with a negative word that deny nothing of the claim."""

_POLAR = (
    ("open opened opens reopened", "closed shut closes shuts close"),
    ("enabled enable enables", "disabled disable disables deactivated"),
    ("active activated", "inactive deactivated dormant blocked suspended"),
    (
        "allowed permitted allow allows permit permits",
        "forbidden prohibited banned disallowed forbid forbids bans prohibits",
    ),
    ("accepts accept accepted admits", "refuses refuse refused rejects declines declined"),
    ("available", "unavailable"),
    ("valid", "invalid expired"),
    ("paid", "unpaid"),
    ("mandatory compulsory required obligatory", "optional voluntary"),
    ("able", "unable"),
    ("supports support supported favours", "opposes oppose opposed"),
    ("alive", "dead deceased"),
    ("employed", "unemployed jobless"),
    ("public", "private"),
    ("locked", "unlocked"),
    ("online", "offline"),
    ("healthy", "unhealthy"),
    ("likes love loves like loved enjoys enjoy adores", "hates hate dislikes dislike hated loathes detests"),
    ("legal", "illegal"),
    ("safe", "unsafe dangerous"),
    ("free", "busy"),
    ("awake", "asleep"),
    ("present", "absent"),
    ("wet", "dry"),
    ("loud noisy", "quiet silent"),
    ("hot", "cold"),
    ("cheap", "expensive"),
    ("furnished", "unfurnished"),
    ("occupied", "vacant"),
    ("muted", "unmuted"),
    ("signed", "unsigned"),
    ("certified", "uncertified"),
    ("insured", "uninsured"),
    ("succeeds succeeded passed passes", "fails failed"),
    ("lent", "borrowed"),
    ("indoor", "outdoor"),
    ("resolved", "unresolved"),
    ("vaccinated", "unvaccinated"),
    ("true", "false"),
    ("correct", "incorrect"),
    ("pregnant", ""),
    ("allergic allergy allergies", ""),
    ("smoker smokes smoke smoking", "nonsmoker"),
    ("member members belong belongs", ""),
    ("visible", "hidden invisible"),
    ("encrypted", "unencrypted plaintext"),
    ("automatic automatically automated", "manual manually"),
)


def _polar() -> dict[str, tuple[str, int]]:
    table: dict[str, tuple[str, int]] = {}
    for good, bad in _POLAR:
        group = "±" + stem(good.split()[0])
        for sign, words in ((1, good), (-1, bad)):
            for word in words.split():
                table.setdefault(stem(word), (group, sign))
    return table


POLAR = _polar()
"""Stem -> (group, +1 or -1). Two statements alike but for the sign of one group contradict each other."""

_CLASSES: dict[str, tuple[str, ...]] = {
    "marital": ("married", "single", "divorced", "engaged", "widowed", "separated"),
    "diet": ("vegan", "vegetarian", "pescatarian", "omnivore|omnivorous", "carnivore"),
    "approval": ("pending|awaiting", "approved", "rejected|denied|refused", "draft", "withdrawn", "granted"),
    "hand": ("left-handed|lefthanded", "right-handed|righthanded", "ambidextrous"),
    "frequency": (
        "hourly", "daily", "weekly", "fortnightly|biweekly", "monthly", "quarterly",
        "yearly|annually|annual", "nightly",
    ),
    "level": ("beginner", "intermediate", "advanced"),
    "colour": (
        "red", "green", "blue", "yellow", "orange", "purple", "violet", "pink", "brown", "black", "white",
        "grey|gray",
        "beige", "turquoise", "teal", "maroon", "navy", "silver", "golden", "crimson", "scarlet",
        "magenta", "indigo", "lilac",
    ),
    "size": ("xs", "small", "medium", "large", "xl", "xxl"),
    "fuel": ("diesel", "petrol|gasoline", "electric", "hybrid"),
    "employment": ("freelance|freelancer", "retired", "full-time|fulltime", "part-time|parttime",
    "unemployed"),
}  # fmt: skip
CLASS_VALUES: dict[str, tuple[str, str]] = {
    form: (kind, value.split("|")[0])
    for kind, values in _CLASSES.items()
    for value in values
    for form in value.split("|")
}
"""Lower-case word -> (class, canonical value); the values of a class exclude each other."""

MEAT = frozenset(
    "meat beef steak pork bacon ham ribs rib chicken lamb sausage sausages burger burgers brisket"
    " turkey duck veal venison salami"
    " chorizo barbecue bbq".split()
)
FISH = frozenset("fish salmon tuna shrimp prawns sushi shellfish oysters crab lobster mackerel anchovies cod".split())
DAIRY = frozenset("cheese milk butter cream yoghurt yogurt eggs egg honey".split())
PLANT = frozenset(
    "vegan plant soy oat almond coconut veggie vegetarian tofu mock fake tempeh seitan free substitute".split()
)
EATING = frozenset(stem(word) for word in "eat love like enjoy adore cook grill crave order devour".split())
DIET_EXCLUDES = {
    "vegan": frozenset({"meat", "fish", "dairy"}),
    "vegetarian": frozenset({"meat", "fish"}),
    "pescatarian": frozenset({"meat"}),
}
"""What a diet rules out; a text that eats it contradicts the diet."""

CANCEL = (
    r"\b(?:cancel(?:l?ed|ling|s)?|called off|calls off|call off|scrapped|scratched|axed|fell through|"
    r"fallen through|"
    r"(?:is|are|'s) off(?=[\s.,;:!]*$|,|;| because| since| after)|(?:won't|will not|is not|isn't|"
    r"aren't|are not) (?:be )?(?:happening|"
    r"happen|take place|taking place|going ahead|go ahead)|no longer (?:happening|taking place|going ahead)|"
    r"abgesagt|annulée?|cancelad[oa]|取消)"
)
CANCELLED_THING = (
    r"\b(?P<verb>cancel(?:l?ed)?|withdrew(?: from)?|withdrawn(?: from)?|gave up|given up|scrapped|"
    r"called off|terminated|returned|"
    r"refunded|handed back|handed in|pulled out of|dropped out of|opted out of|unsubscribed from|ended|"
    r"revoked|deleted|removed|"
    r"switched off|turned off|resigned from|stepped down as|stepped down from|got rid of|sold|"
    r"dissolved|decommissioned|retired)\s"
    r"(?P<o>[^,.;:!?]{2,60})"
)
CORRECTION = (
    r"\b(?:i meant|i mean|correction|typo|misread|misheard|misspoke|mistyped|mixed up|my mistake|"
    r"was (?:a )?(?:wrong|mistake|slip|"
    r"error|mistaken|off by|incorrect)|were wrong|scratch that|wrote down wrongly|written down wrongly|"
    r"should (?:read|have been|be "
    r"read)|got (?:it|that|this|the \w+) wrong|i was wrong|not as i (?:said|wrote)|corrected|"
    r"spelling fix|to be precise it)\b"
    r"|^(?:no|sorry|oops|whoops|oh wait|wait|actually),"
)
CHANGE = (
    r"\b(?:now|nowadays|these days|currently|from (?:today|now on|here on)|as of|since (?:the|last|my|"
    r"our|this|january|february|march|"
    r"april|may|june|july|august|september|october|november|december|monday|\d)|"
    r"starting (?:today|now|this|next|from|on|in)|no longer|any ?more|"
    r"stopped|quit|transferred|extended|renewed|postponed|rescheduled|brought forward|pushed back|shortened|"
    r"gave up|(?<!not )given up|switched|changed|moved|replaced|renamed|"
    r"migrated|relocated|upgraded|downgraded|bumped|instead|raised|lowered|reduced|increased|"
    r"dropped to|went up|went down|gone up|"
    r"gone down|rose to|fell to|new|took over|takes over|taken over|has been reset|became|(?:has|"
    r"have) (?:climbed|risen|grown|dropped|fallen|shrunk|been (?:raised|cut|changed|moved|set)))\b"
)
