"""Verbs and nouns that the rules know: what opens a predicate, names a holder, has one value. Ours."""

from __future__ import annotations

from calm.rules.stems import stem

VERBS = frozenset(
    stem(word)
    for word in "live reside move work use drive take meet start begin open close end finish run listen"
    " cost charge pay keep"
    " store sit stand hold own manage lead head chair coach captain direct edit handle maintain"
    " belong prefer like love hate"
    " want need enjoy eat drink wear smoke play speak study teach learn attend train read write sign"
    " ship deliver order book"
    " reserve rent buy sell leave join quit stop switch change become stay serve sleep carry weigh"
    " measure contain include"
    " allow permit accept require expire last send receive post deploy host support call name swim"
    " cycle walk ride travel"
    " fly visit park collect look feed mow clean wake ring arrive depart land kick cap limit total"
    " amount reach see set"
    " get give go come make keep put think know say tell earn save spend owe draw chooses choose rely"
    " remain seem believe"
    " employ hire supply sponsor own compose design conduct build found star represent weekly wants"
    " closes opens starts"
    " offers offer provide expect bring pick hand cover pilot sing share help fit sit answer reply"
    " settle relocate migrate"
    " renew book schedule plan cancel replace rename report return rise fall deploys commits merges"
    " needs costs charges sleeps takes dial".split()
)
"""Stems of common main verbs: what stands before the first one is the subject."""

NOUN_VERBS = frozenset(
    stem(word)
    for word in "chair coach captain host name plan cost limit park book order ship train report visit"
    " walk run ride call offer"
    " help drink play work study need land charge fit answer bank cap head share star supply sponsor"
    " design post support hand"
    " cover pilot start end finish change stay sleep ring measure total amount look feed sign post"
    " present".split()
)
"""Verbs whose forms in -s are as often plural nouns."""

NEUTRAL_VERBS = frozenset(
    stem(word)
    for word in "cost charge total count measure read stand contain set come amount number weigh carry"
    " show list bill quote"
    " sit own possess register record run hold has give pay be equal produce maintain go stretch keep"
    " got make".split()
)
"""Verbs that only carry a value: "costs", "measures", "comes to" differ in nothing."""

HOLDER_VERBS: dict[str, str] = {
    stem(form): group
    for group, forms in {
        "own": "own owns owned",
        "manage": "manage manages managed",
        "lead": "lead leads led head heads headed",
        "chair": "chair chairs chaired",
        "coach": "coach coaches coached",
        "captain": "captain captains captained",
        "direct": "direct directs directed",
        "edit": "edit edits edited",
        "conduct": "conduct conducts conducted",
        "maintain": "maintain maintains maintained",
        "hold": "held holds",
        "compose": "compose composes composed",
        "write": "written wrote authored",
        "design": "design designed designs",
        "make": "manufactured manufactures produced",
        "handle": "handle handles handled",
        "supply": "supplied supplies supply",
        "sponsor": "sponsor sponsored sponsors",
        "paint": "painted",
        "found": "founded",
        "teach": "teach teaches taught",
        "pilot": "pilots piloted",
        "administer": "administers administered",
        "host": "hosts hosted",
        "clean": "cleans cleaned",
        "moderate": "moderates moderated",
        "review": "reviews reviewed",
        "supervise": "supervises supervised",
        "audit": "audits audited",
        "organise": "organises organised organizes organized",
        "facilitate": "facilitates facilitated",
        "insure": "insures insured",
        "publish": "published publishes",
        "service": "serviced services",
        "operate": "operated operates",
        "provide": "provided provides",
        "print": "printed prints",
        "cater": "catered caters",
        "fund": "funded funds financed",
        "treat": "treated treats",
        "represent": "represented represents",
        "deliver": "delivered",
        "monitor": "monitored monitors",
        "cover": "covered",
        "employ": "employed employs",
        "arrange": "arranged arranges",
        "stage": "staged",
        "keep": "kept keeps",
        "guard": "guarded guards",
        "repair": "repaired repairs",
        "approve": "approved approves",
        "prepare": "prepared prepares",
        "check": "checked checks",
        "mentor": "mentored mentors",
        "tutor": "tutored tutors",
        "translate": "translated translates",
    }.items()
    for form in forms.split()
}
"""Stem of a verb whose subject is the one holder of its definite object -> group."""

HOLDER_NOUNS: dict[str, str] = {
    "owner": "own", "manager": "manage", "leader": "lead", "head": "lead", "lead": "lead",
    "chair": "chair", "chairman": "chair",
    "chairwoman": "chair", "chairperson": "chair", "coach": "coach", "captain": "captain",
    "director": "direct",
    "editor": "edit", "conductor": "conduct", "maintainer": "maintain", "holder": "hold",
    "composer": "compose",
    "author": "write", "designer": "design", "manufacturer": "make", "maker": "make", "supplier": "supply",
    "sponsor": "sponsor", "founder": "found", "teacher": "teach", "pilot": "pilot", "host": "host",
    "supervisor": "supervise",
    "auditor": "audit", "organiser": "organise", "organizer": "organise", "insurer": "insure",
    "publisher": "publish",
}  # fmt: skip

UNIQUE_MODIFIERS = frozenset(
    stem(word)
    for word in "national state official main default usual preferred primary only sole favourite"
    " favorite emergency regular"
    " principal chief tallest largest oldest highest biggest longest smallest best first current"
    " final maiden go-to".split()
)
"""Modifiers of a description that has one value at a time."""

FUNCTIONAL_NOUNS = frozenset(
    "name manager captain landlord landlady dentist doctor gp vet owner plate password pin code"
    " address number email phone"
    " birthday size height weight rent salary price fee rate budget limit deadline venue location"
    " port host version branch"
    " colour color title mayor president chancellor king queen sultan capital currency language"
    " employer boss supervisor"
    " advisor adviser tutor coach teacher provider supplier insurer bank carrier operator region"
    " editor model timezone"
    " frequency dose dosage channel speed temperature quota age nickname surname headquarters hq lead"
    " contact username"
    " handle domain url endpoint database backend framework wallpaper ringtone favourite favorite"
    " treasurer secretary chair"
    " chairman director agent accountant solicitor lawyer therapist physio hairdresser barber plumber"
    " builder midwife"
    " nationality religion major degree thesis subject topic destination gate platform seat room"
    " floor locker shift tariff"
    " plan subscription allergy bloodtype type mascot sponsor manufacturer composer author conductor"
    " keeper goalkeeper word codeword passphrase slogan motto alias label tag status stage phase tier level priority"
    " severity assignee reviewer approver maintainer trainer instructor optician pharmacist cleaner nanny babysitter"
    " gardener caretaker curfew theme genre class section desk bay pitch court lane hall gym school university"
    " college kindergarten nursery optometrist mentor courier guardian neighbourhood district postcode zip".split()
)
"""Heads of attributes that have one value at a time."""

GAUGE_VERBS = frozenset(stem(word) for word in "weigh measure earn last wake".split())
"""Verbs that read a gauge of their subject: one value at a time."""

KEEPING_VERBS = frozenset(
    stem(word)
    for word in "keep keeps sign signs store stores park parks bank banks moor ship ships host hosts"
    " heat heats"
    " insure insures register registers".split()
)
"""Verbs whose prepositional phrase is the one current way or place."""
