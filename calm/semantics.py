"""The semantic type of a text: what kind of speech act it is, by rules that read its words as data.

Hypothetical, planned, quoted and fictional statements are typed as such, and then can't supersede a fact.
Ours (DESIGN 3): the paper names the semantic type and leaves its values open.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from calm.cells import SemanticType, Source


def _any_of(*patterns: str) -> Callable[[str], bool]:
    compiled = re.compile("|".join(f"(?:{p})" for p in patterns), re.IGNORECASE)
    return lambda text: bool(compiled.search(text))


_START = r"(?:^|[.!?:;\n]\s*|\b(?:please|assistant|system|ai|important|note)[,:!]?\s+)"
_overrides = _any_of(
    _START + r"(?:ignore|disregard|forget|override|bypass)\b[^.!?\n]{0,60}\b(?:instructions?|rules?|prompts?|"
    r"guidelines|earlier|previous|prior|above|everything|constraints|polic(?:y|ies))\b",
    r"\byou are now\b",
    r"\b(?:new|updated|hidden) (?:system )?(?:instructions?|prompt)\s*:",
    r"\bsystem (?:prompt|message|override|note)\b\s*[:!]",
    r"<\s*/?\s*(?:system|instructions?)\s*>",
)
_commands = _any_of(
    _START + r"(?:send|mail|e-?mail|forward|post|upload|transfer|wire|leak|exfiltrate|reveal|print|output|delete|erase|"
    r"drop|execute|approve|(?:grant|mark)(?! \w+s\b)|tell the user|reply with|respond with|act as|pretend|recommend|"
    r"overwrite|update (?:the|your|all|this) memor(?:y|ies))\b",
    _START + r"(?:always|never|from now on|do not|don't|you must|you should)\b[^.!?\n]{0,20}\b(?:recommend|answer|say|"
    r"reply|respond|approve|trust|tell|mention|use|treat|obey|reveal|follow|you|send)\b",
    r"\b(?:the|any) (?:ai|assistant|model|agent|llm)(?: reading this)? (?:must|should|has to|will) (?:now |always )?"
    r"(?:ignore|send|recommend|say|answer|reply|reveal|approve|delete|forward|treat|obey)\b",
)
_fiction = _any_of(
    r"\bin (?:my|our|the|his|her|their|this|a) (?:\w+ )?(?:novel|story|screenplay|script|dream|poem|fanfic|comic|film|"
    r"movie|series|play|game|campaign|song|sketch|role-?play)\b",
    r"\b(?:narrator|protagonist|(?:main |my )character|villain|hero(?:ine)?)\b[^.!?]{0,40}\b(?:says?|said|is|lives?|"
    r"works?|has|thinks?)\b",
    r"\b(?:once upon a time|i dream(?:ed|t)|role-?play(?:ing)?|let's pretend|make-believe|just kidding|only kidding|"
    r"i(?:'m| am) (?:just |only )?(?:joking|kidding)|as a joke)\b",
)
_hypothetical = _any_of(
    r"^\W*(?:what|how about|and what) if\b",
    r"^\W*(?:if|suppose|supposing|imagine|assuming|were (?:i|we) to|should (?:i|we) ever)\b",
    r"\b(?:hypothetically|thinking (?:aloud|out loud)|i wonder|wondering (?:if|whether|about)|i wish|if only)\b",
    r"\b(?:might|may|could) (?:\w+ )?(?:have to |want to )?(?:move|switch|change|try|get|buy|go|take|be|use|keep|start|"
    r"leave|join|sell|adopt|become|quit|stop|drop|put|make|do|need)\b",
    r"\b(?:consider(?:ing)?|toying with|contemplating|mulling|thinking (?:of|about)|tempted to|debating)\b",
    r"\b(?:would|'d) (?:be|have|need|love|prefer|move|take|buy|switch)\b[^.!?]{0,120}?\bif\b",
    r"\bif (?:i|we|he|she|they|it|the|my|our|someone|\w+)\b[^.!?]{0,120}?,\s*[^.!?]{0,120}?\b"
    r"(?:would|could|might|may|will|'d|'ll)\b",
)
_plan = _any_of(
    r"\b(?:plan(?:s|ning|ned)? (?:to|on)|intend(?:s|ing)? to|aim(?:s|ing)? to|hop(?:e|es|ing) to|wants? to|"
    r"(?:would|'d) like to|looking to|due to start|about to)\b",
    r"\b(?:am|'m|is|are|'re|'s) going to (?!the\b|a\b|an\b|my\b|our\b|(?-i:[A-Z]))\w+",
    r"\b(?:flying|travelling|traveling|going|driving|heading|moving|visiting|leaving|starting|meeting|seeing)\b"
    r"[^.!?]{0,120}?\b(?:tomorrow|next (?:week|month|year|weekend|\w+day)|"
    r"this (?:weekend|summer|winter|spring|autumn))\b",
)
_quote = _any_of(
    r"\b(?!i\b)(?:he|she|they|someone|somebody|people|everyone|who|[a-z]+)(?: \w+)? (?:says?|said|claims?|claimed|"
    r"told (?:me|us|them)(?! to\b)|swears?|swore|insists?|insisted|reckons?|reported(?:ly)?|alleges?|wrote|posted|"
    r"argues?)\b(?! (?:yes|no|hi|hello|goodbye|sorry|thanks)\b)",
    r"\b(?:according to|allegedly|supposedly|reportedly|rumou?r(?:s|ed)?|i(?:'ve| have)? (?:heard|read) (?:that|from|"
    r"somewhere)|^\W*word is|hearsay|recap\s*:|quote\s*:|to quote)\b",
)
_first_person_quote = _any_of(r"\b(?:i|we) (?:said|told|wrote|say|meant|reported|posted)\b")
_temporary = _any_of(
    r"\b(?:only|just|but only) (?:for )?(?:this|today|tonight|tomorrow|next|on|the (?:next|coming))\b",
    r"\b(?:this (?:week|month|morning|afternoon|evening|time|weekend|\w+day)|today|tonight|tomorrow|(?:mon|tues|"
    r"wednes|thurs|fri|satur|sun)day) only\b",
    r"\bonly (?:this|on|from|for|between|until)\b",
    r"\b(?:temporarily|just this once|this once|as an exception|"
    r"exceptionally|one-off|in the meantime|meanwhile|stand(?:s|ing)? in for|filling in for)\b",
    r"\bfor (?:the next |the coming )?(?:a|an|one|two|three|four|five|six|seven|ten|\d+) (?:days?|weeks?|nights?|"
    r"hours?)(?: only)?\b[^.!?]{0,120}?\b(?:instead|back|while|until|only)\b",
)
_hedged = _any_of(
    r"\b(?:probably|possibly|perhaps|maybe|presumably|seems?|seemingly|appears? to|i think|i guess|i believe|i suspect|"
    r"not sure|unsure|likely|might be|may be|could be|not certain|if i remember)\b"
)
_question_start = re.compile(
    r"^\W*(?:who|whom|whose|what|when|where|which|why|how|do|does|did|is|are|was|were|can|could|will|would|should|shall|"
    r"have|has|had|am|may|any)\b",
    re.IGNORECASE,
)
_preference = _any_of(
    r"\b(?:likes?|loves?|prefers?|favou?rites?|hates?|enjoys?|dislikes?|adores?|can't stand|fond of|(?:a|big) fan of)\b"
)
_event = _any_of(
    r"\b(?:yesterday|last (?:night|week|month|year|\w+day)|this morning|\w+ (?:days?|weeks?|months?|years?) ago)\b",
    r"\b(?:went|visited|bought|met|attended|flew|drove|watched|finished|started|moved|switched|joined|left|sold|ran|"
    r"signed|adopted|booked|cancelled|canceled|replaced|quit|became|got|took|won|lost)\b",
)
_directive_start = re.compile(
    r"^\W*(?:please\s+|always\s+|never\s+|do not\s+|don't\s+)?(?:answer|reply|respond|write|call|use|remember|keep|"
    r"make|remind|speak|avoid|stop|start|address|format|send|book|give|show|tell|put|add|set|wake|order|schedule|sign)\b"
    r"|^\W*(?:please|always|never|don't|do not)\b",
    re.IGNORECASE,
)
_SMALL_TALK_WORDS = frozenset(
    "hi hey hello yo thanks thank cheers ok okay sure yes yeah yep no nope nah wow cool great nice awesome"
    " amazing lovely wonderful congrats congratulations good morning night evening afternoon luck point idea bye"
    " goodbye see you later take care haha hahaha lol exactly absolutely definitely of course problem welcome"
    " sounds sound fun like that's that is so true same here right indeed oh aw aww sorry to hear it me too glad"
    " happy really very much a lot again there i am i'm all for the your you're and what thing it's how"
    " beautiful fantastic perfect hope hugs talk soon".split()
)


def semantic_type(text: str, source: Source) -> SemanticType:
    """The type of one claim-sized text. The first rule that fits wins, the most dangerous first.

    An order to the assistant is a `DIRECTIVE` from the user and an `INJECTION` from anybody else, who could only
    have smuggled it in; a mention of instructions ("my teenager ignores instructions") is neither.
    """
    text = text.strip().replace("’", "'")
    trusted = source is Source.USER
    if not trusted and (_overrides(text) or (source is not Source.ASSISTANT and _commands(text))):
        return SemanticType.INJECTION
    opening = text[:_CLAIM_CHARS]
    for test, kind in _SPEECH_ACTS:
        if test(opening):
            return kind
    return _assertion(opening, trusted)


_CLAIM_CHARS = 4_000
"""Longer texts are no single claim: their beginning decides. An order to the assistant is looked for in all of it."""


def _is_small_talk(text: str) -> bool:
    """Nothing but courtesies, save one name ("Hey Mel! Good to see you!")."""
    words = re.findall(r"[^\W_]+(?:'[^\W_]+)?", text)
    rest = [word for word in words if word.casefold() not in _SMALL_TALK_WORDS]
    return len(rest) < len(words) and (not rest or (len(rest) == 1 and rest[0].istitle() and len(words) > 1))


def _is_quote(text: str) -> bool:
    return _quote(text) and not _first_person_quote(text)


def _is_question(text: str) -> bool:
    body = text.rstrip(" \"')”’]")
    if not body.endswith(("?", "？")):
        return False
    before = re.split(r"[.!。！](?:\s|$)", body)
    return len(before) == 1 or bool(_question_start.match(before[0]))


_SPEECH_ACTS: tuple[tuple[Callable[[str], bool], SemanticType], ...] = (
    (_fiction, SemanticType.FICTION),
    (_hypothetical, SemanticType.HYPOTHETICAL),
    (_is_question, SemanticType.QUESTION),
    (_is_small_talk, SemanticType.SMALL_TALK),
    (_temporary, SemanticType.TEMPORARY),
    (_is_quote, SemanticType.QUOTE),
    (_plan, SemanticType.PLAN),
    (_hedged, SemanticType.HEDGED),
)


def _assertion(text: str, trusted: bool) -> SemanticType:
    if trusted and _directive_start.match(text):
        return SemanticType.DIRECTIVE
    if _preference(text):
        return SemanticType.PREFERENCE
    return SemanticType.EVENT if _event(text) else SemanticType.STATEMENT
