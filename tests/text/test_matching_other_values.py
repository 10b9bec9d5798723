"""What a chunk must say otherwise to be no hit: values and negations; and what is the gold all the same."""

from collections.abc import Callable

import pytest

from evals.text.matching import Matches

RuleOf = Callable[..., str | None]

LOAN = "under this agreement the interest rate of the loan was set at 3.75% per year for the whole term of the contract"
SIGNED = (
    "the treaty between the two neighbouring countries was signed on 3 May 2019 in Vienna by both foreign ministers"
)
FILED = (
    "the record of the hearing says that the appeal was filed on 2019-05-03 at the court of the district by the owner"
)
GOODS = (
    "the buyer must report any defect of the goods to the seller within 30 days of delivery or lose every other claim"
)
LATE = (
    "a payment that arrives more than 1 day after the date on the invoice is late and bears interest at the usual rate"
)
RENT = (
    "the monthly rent for the flat on the second floor is $1,250.00 and falls due on the first working day of the month"
)
PROFIT = (
    "in its report to the shareholders the company said that it had earned $12.5 million in the quarter before the sale"
)
KEPT = "all records of the patients must be kept by the hospital for five (5) years after the last visit of the patient"
RELEASE = (
    "Release 2.4.1 of the server replaces release 2.4.0 and must be installed on every node before the cluster starts"
)
PHONE = (
    "the warranty of the Galaxy S23 covers the screen and the battery for as long as the owner keeps the receipt of it"
)
REGION = (
    "set the variable CFG_REGION_A in the file of the service before you start it or it will refuse every connection"
)
DAMAGE = (
    "die Versicherung des Vermieters gilt für Schäden durch Wasser und Feuer in allen Räumen der gemieteten Wohnung"
)
FEE = (
    "für die Änderung der Adresse wird vom Amt eine Gebühr erhoben und dem Antragsteller per Post in Rechnung gestellt"
)
PERROS = (
    "según las normas del edificio el alquiler incluye los gastos de agua y de luz de todas las viviendas del bloque"
)
DATA = "personal data may be passed on to a partner of the company with the consent of the person whom they are about"
PERMIT = (
    "the inspector noted that the permit of the building was valid on the day of the fire and had been shown to him"
)
PRICE = "the price for each night in the hotel includes breakfast and the use of the pool but not the parking of a car"
RACE = (
    "the club holds its race along the river every year in March and invites all schools of the district to take part"
)
COUNCIL = (
    "the council of the town meets every second Tuesday in the hall beside the church and everyone may come and listen"
)
OTHERS = [
    (LOAN, "3.75%", "4.25%"),
    (LOAN, "3.75%", "3.25%"),
    (SIGNED, "3 May 2019", "14 June 2021"),
    (SIGNED, "3 May 2019", "3 June 2019"),
    (FILED, "2019-05-03", "2021-06-14"),
    (GOODS, "30 days", "ninety days"),
    (LATE, "1 day", "3 days"),
    (RENT, "$1,250.00", "$3,475.50"),
    (RENT, "second floor", "fourth floor"),
    (PROFIT, "$12.5 million", "$48.3 billion"),
    (PROFIT, "$12.5 million", "$12.5 billion"),
    (KEPT, "five (5) years", "two (2) years"),
    (RELEASE, "2.4.1 of the server replaces release 2.4.0", "2.3.7 of the server replaces release 2.3.5"),
    (RELEASE, "replaces release 2.4.0", "replaces release 2.3.5"),
    (PHONE, "S23", "S22"),
    (REGION, "CFG_REGION_A", "CFG_REGION_B"),
    (DAMAGE, "gilt für", "gilt nicht für"),
    (FEE, "eine Gebühr", "keine Gebühr"),
    (PERROS, "incluye", "no incluye"),
    (DATA, "with the consent", "without the consent"),
    (PERMIT, "was valid", "was not valid"),
    (PRICE, "includes", "does not include"),
    (RACE, "March", "June"),
    (COUNCIL, "Tuesday", "Friday"),
]  # fmt: skip
"""A gold, a part of it, and what the chunk says in its place."""


@pytest.mark.parametrize("added", ["{}", "Section 4. {} This is all that needs to be said of it."])
@pytest.mark.parametrize(("gold", "old", "new"), OTHERS)
def test_a_chunk_that_says_otherwise_is_no_hit(rule_of: RuleOf, gold: str, old: str, new: str, added: str) -> None:
    """The same sentence but for one value or one negation, whichever of the two is the gold."""
    other = gold.replace(old, new)
    assert other != gold
    assert rule_of(gold, added.format(gold)) == "text"
    assert rule_of(gold, added.format(other)) is None
    assert rule_of(other, added.format(gold)) is None


HEATER = (
    "The heater reached the optimal incubation temperature in 15 minutes, and maintained the target temperature "
    "with minimal drift over 60 minutes."
)
AIRLINE = (
    "The airline had two subsidiary airlines, Fly540 Ghana (suspended in May 2014 and since sold) and Fly540 Angola "
    "(suspended in May 2014), but has since focused its business expansion plans on East Africa."
)
TRAILER = (
    "WARNING: If the gross trailer weight is 2,000 lb (907 kg) or more, it is recommended to use a weight-distributing "
    "hitch to ensure stable handling of your vehicle."
)
COLD = (
    "If temperatures are below 32°F (0°C), operate the engine at moderate speeds for five minutes before full loads "
    "are applied."
)
CUP = (
    "The competition was known as the Bankfin Currie Cup for sponsorship reasons and was contested from 30 May to "
    "24 October 1996."
)
ESSEX = (
    'Commissioned in December 1942, "Essex" participated in several campaigns in the Pacific Theater of Operations, '
    "earning the Presidential Unit Citation and 13 battle stars."
)
ZOO = (
    "In 1927 a zoological garden (Ogród Zoologiczny) was established on the park grounds, and in 1952 a bear run, "
    "still open today."
)
SUBJECTS = (
    "A total of 33 of the 91 subjects had one or more respiratory tract virus; there were 10 cases of triple infection"
)
VIRUSES = (
    "The major distinction between SARSr-CoV and SARS-CoV is in orf3b, Spike and orf8 but especially variable in "
    "Spike S1 and orf8 which were previously shown to be recombination hot spots."
)
LEAGUE = (
    "They are now playing in the 4th league (5th tier in Poland) -the bottom professional league in the National "
    "Polish Football Association structure."
)

SAME = [
    # letters read wrongly
    (HEATER, HEATER.replace("heater", "hcater").replace("target", "targct")),
    (HEATER, HEATER.replace("15 minutes", "l5 minutes").replace("drift", "dritt")),
    (HEATER, HEATER.replace("60 minutes", "6O minutes").replace("optimal", "optirnal")),
    (COLD, COLD.replace("five minutes", "five rninutes").replace("0°C", "O°C")),
    (ZOO, ZOO.replace("1952", "l952").replace("Ogród", "Ogrod")),
    (PERMIT, PERMIT.replace("inspector", "inspcctor")),
    (DAMAGE.replace("gilt", "gilt nicht"), DAMAGE.replace("gilt", "gilt nlcht")),
    (RACE, RACE.replace("March", "Match")),
    # pages, headers, footnotes between
    (TRAILER, TRAILER.replace("(907 kg) or", "(907 kg) 212 or")),
    (TRAILER, TRAILER.replace("2,000 lb", "2,000 [3] lb")),
    (CUP, CUP.replace("was contested", "was[7] contested")),
    (CUP, CUP.replace("30 May", "30 OWNER'S MANUAL 2022 PAGE 117 May")),
    (AIRLINE, AIRLINE.replace("and since sold", "and since Annual Report, do not copy or pass on, page 9 of 80 sold")),
    (SUBJECTS, SUBJECTS.replace("91 subjects", "91 12 subjects")),
    (SUBJECTS, SUBJECTS.replace("virus;", "virus (Table 2);")),
    (VIRUSES, VIRUSES.replace("hot spots", "hot [12] spots").replace("Spike and", "Spike 4 and")),
    (KEPT, KEPT.replace("by the hospital", "by Form 7 Rev. 2019 the hospital")),
    # words cut at the ends of lines
    (HEATER, HEATER.replace("temperature", "tempera-\nture").replace("minimal", "mini- mal")),
    (PERMIT.replace("valid", "invalid"), PERMIT.replace("valid", "in valid").replace("noted", "not ed")),
    (ESSEX, ESSEX.replace("1942", "19 42").replace("participated", "partici pated")),
    (RENT, RENT.replace("$1,250.00", "$1250.00").replace("working", "work ing")),
    (GOODS, GOODS.replace("30 days", "30days").replace("defect", "de fect")),
    # numbers written in another way
    (KEPT, KEPT.replace("five (5)", "5")),
    (KEPT, KEPT.replace("five (5)", "5 (five)")),
    (COLD, COLD.replace("five minutes", "5 minutes")),
    (FILED, FILED.replace("2019-05-03", "2019-5-3")),
    # other order, parts lacking, other numbers elsewhere
    (CUP, "It was contested from 30 May to 24 October 1996. The competition was known as the Bankfin Currie Cup for "
     "sponsorship reasons and was won in 1995 by another team."),
    (SUBJECTS, "there were 10 cases of triple infection; A total of 33 of the 91 subjects had one or more respiratory "
     "tract virus"),
    (ESSEX, ESSEX.replace("and 13 battle stars", "").replace("several", "many")),
    (TRAILER, f"See page 88. {TRAILER.replace('recommended', 'advised')} Within 500 miles do not exceed 50 mph."),
    (HEATER, f"{HEATER.replace('optimal', 'best')} The fan reached its speed in 40 minutes and failed after 90."),
    (GOODS, f"{GOODS.replace('must', 'has to')} and the seller must report it within 14 days of delivery to the maker"),
    (AIRLINE, AIRLINE.replace("suspended in May 2014 and since sold", "sold")),
    (ZOO, "Page 12: " + ZOO.removeprefix("In 1927 ")),
    (DATA, DATA.replace("person whom", "one whom") + " but not without the consent of the office"),
    (COUNCIL, COUNCIL.replace("everyone", "all").replace("Tuesday", "tuesday") + " The board meets on Friday."),
]  # fmt: skip


@pytest.mark.parametrize(("gold", "chunk"), SAME)
def test_the_gold_is_a_hit_whatever_was_done_to_it(rule_of: RuleOf, gold: str, chunk: str) -> None:
    """Slips of reading, what pages add, cut words, another order, and other numbers around it."""
    assert rule_of(gold, chunk) is not None


@pytest.mark.parametrize(("gold", "at"), [(AIRLINE, 14), (TRAILER, 12), (VIRUSES, 20), (SIGNED, 11), (LOAN, 13)])
def test_a_gold_cut_in_two_is_found_beside_other_numbers(
    recognised: Callable[..., Matches], gold: str, at: int
) -> None:
    """Each half stands in a chunk that says other things too."""
    words = gold.split(" ")
    before, after = "Of the 14 cases of 2011 none was heard before 3 June.", "That was not so in the 8 years since."
    found = recognised(gold, f"{before} {' '.join(words[:at])}", f"{' '.join(words[at:])} {after}")
    assert found.found != {}
