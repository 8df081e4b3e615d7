"""A few countries and their cities: enough to see that "in Portugal" and "in Porto" do not contradict each
other."""

from __future__ import annotations

CITIES: dict[str, frozenset[str]] = {
    country: frozenset(cities.split())
    for country, cities in {
        "portugal": "lisbon porto braga coimbra faro",
        "spain": "madrid barcelona valencia seville malaga bilbao granada zaragoza",
        "france": "paris lyon marseille nice toulouse bordeaux lille nantes strasbourg rennes",
        "germany": "berlin hamburg munich cologne frankfurt stuttgart leipzig dresden bremen hanover nuremberg bonn",
        "italy": "rome milan naples turin florence bologna venice genoa verona palermo trieste",
        "england": "london manchester birmingham leeds bristol liverpool york oxford cambridge brighton"
        " sheffield nottingham",
        "scotland": "edinburgh glasgow aberdeen dundee inverness",
        "ireland": "dublin cork galway limerick",
        "netherlands": "amsterdam rotterdam utrecht eindhoven groningen hague delft",
        "belgium": "brussels ghent antwerp bruges leuven liege",
        "switzerland": "zurich geneva basel bern lausanne lugano",
        "austria": "vienna graz salzburg linz innsbruck",
        "poland": "warsaw krakow gdansk wroclaw poznan gdynia lodz",
        "sweden": "stockholm gothenburg malmo uppsala lund",
        "norway": "oslo bergen trondheim stavanger tromso",
        "denmark": "copenhagen aarhus odense aalborg",
        "finland": "helsinki tampere turku espoo oulu",
        "czechia": "prague brno ostrava plzen",
        "hungary": "budapest debrecen szeged",
        "greece": "athens thessaloniki patras heraklion",
        "turkey": "istanbul ankara izmir antalya",
        "japan": "tokyo osaka kyoto nagoya sapporo fukuoka",
        "china": "beijing shanghai shenzhen chengdu guangzhou wuhan xiamen hangzhou",
        "india": "mumbai delhi bangalore bengaluru chennai kolkata pune hyderabad",
        "australia": "sydney melbourne brisbane perth adelaide hobart canberra",
        "canada": "toronto montreal vancouver ottawa calgary halifax moncton",
        "usa": "boston chicago seattle denver austin portland philadelphia houston dallas miami atlanta"
        " phoenix brooklyn",
        "brazil": "rio brasilia salvador recife curitiba",
        "mexico": "guadalajara monterrey puebla",
        "kenya": "nairobi mombasa",
        "nigeria": "lagos abuja ibadan",
        "egypt": "cairo alexandria",
        "wales": "cardiff swansea",
        "argentina": "cordoba rosario mendoza",
        "korea": "seoul busan daegu",
        "uk": "london manchester birmingham leeds bristol liverpool edinburgh glasgow cardiff belfast oxford cambridge",
    }.items()
}
_REGIONS = frozenset(CITIES) | frozenset(
    "america states kingdom britain europe asia africa california texas florida bavaria andalusia"
    " tuscany ontario quebec romania"
    " bulgaria serbia croatia ukraine russia vietnam thailand indonesia malaysia singapore"
    " philippines pakistan chile peru colombia"
    " iceland estonia latvia lithuania slovenia slovakia albania malta cyprus israel lebanon jordan"
    " morocco tunisia algeria ghana"
    " uganda tanzania ethiopia zealand germany deutschland frankreich españa chine".split()
)


def may_contain(first: frozenset[str], second: frozenset[str]) -> bool:
    """Whether one place can lie in the other: a country or region, and a place not known to lie elsewhere."""
    return _inside(first, second) or _inside(second, first)


def _inside(country: frozenset[str], city: frozenset[str]) -> bool:
    if not country & _REGIONS or city & _REGIONS:
        return False
    known = {name for name, cities in CITIES.items() if cities & city}
    return not known or bool(known & country)
