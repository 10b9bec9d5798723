"""Words behind and signs before a number: what multiplies it, and what it counts.

A unit is a path from the general to the special, so that two units contradict each other only where neither leads on
from the other: "dollars" is no contradiction to "dollars/US", "pounds" neither to "pounds/sterling" nor to
"pounds/weight". Units are not converted: 24 hours are not one day.
"""

WHOLE_SCALES = {
    "hundred": 2,
    "thousand": 3,
    "thousands": 3,
    "lakh": 5,
    "lakhs": 5,
    "million": 6,
    "millions": 6,
    "crore": 7,
    "crores": 7,
    "billion": 9,
    "billions": 9,
    "trillion": 12,
    "trillions": 12,
    "quadrillion": 15,
}
"""Words that multiply, with their power of ten; a billion is 10^9."""
SHORT_SCALES = {"mn": 6, "mln": 6, "mio": 6, "bn": 9, "bln": 9, "mrd": 9, "tn": 12, "trn": 12}
"""Short forms that mean nothing else behind a number, in any case."""
GLUED_SCALES = {"k": 3, "K": 3, "M": 6, "MM": 6, "B": 9}
"""Letters that multiply where they stand directly behind the number: 5k. Not m, which is a metre or a minute too."""
SCALES_OF_MONEY = {"k": 3, "K": 3, "m": 6, "M": 6, "mm": 6, "MM": 6, "b": 9, "B": 9, "t": 12, "T": 12}
"""Letters that multiply an amount with a sign of a currency before it: $5m, € 5 k."""

CURRENCY_SIGNS = {
    "$": "dollars",
    "€": "euros",
    "£": "pounds/sterling",
    "¥": "¥",
    "₹": "rupees",
    "₽": "roubles",
    "₩": "won",
    "¢": "cents",
}
CURRENCY_CODES = {
    "USD": "dollars/US",
    "CAD": "dollars/Canada",
    "AUD": "dollars/Australia",
    "NZD": "dollars/New Zealand",
    "HKD": "dollars/Hong Kong",
    "SGD": "dollars/Singapore",
    "EUR": "euros",
    "GBP": "pounds/sterling",
    "JPY": "¥/yen",
    "INR": "rupees",
    "CHF": "francs",
    "CNY": "¥/yuan",
    "RMB": "¥/yuan",
}
DOLLARS = {
    "US": "dollars/US",
    "C": "dollars/Canada",
    "CA": "dollars/Canada",
    "A": "dollars/Australia",
    "AU": "dollars/Australia",
    "NZ": "dollars/New Zealand",
    "HK": "dollars/Hong Kong",
    "S": "dollars/Singapore",
}
"""Letters before a dollar sign: US$."""

_WORDS = {
    "dollars": "dollar dollars",
    "euros": "euro euros",
    "pounds": "pound pounds",
    "pounds/sterling": "sterling quid",
    "pounds/weight": "lb lbs",
    "¥/yen": "yen",
    "¥/yuan": "yuan",
    "rupees": "rupee rupees",
    "roubles": "rouble roubles ruble rubles",
    "francs": "franc francs",
    "cents": "cent cents",
    "milliseconds": "ms msec millisecond milliseconds",
    "seconds": "s sec secs second seconds",
    "minutes": "min mins minute minutes",
    "hours": "h hr hrs hour hours",
    "days": "day days",
    "nights": "night nights",
    "weeks": "wk wks week weeks",
    "months": "month months",
    "years": "yr yrs year years",
    "decades": "decade decades",
    "centuries": "century centuries",
    "am": "am a.m",
    "pm": "pm p.m",
    "micrograms": "mcg µg μg microgram micrograms",
    "milligrams": "mg milligram milligrams",
    "grams": "g gram grams gramme grammes",
    "kilograms": "kg kgs kilo kilos kilogram kilograms",
    "tons": "ton tons",
    "tons/metric": "tonne tonnes",
    "ounces": "oz ounce ounces",
    "nanometres": "nm nanometre nanometres nanometer nanometers",
    "micrometres": "µm μm micrometre micrometres micrometer micrometers",
    "millimetres": "mm millimetre millimetres millimeter millimeters",
    "centimetres": "cm centimetre centimetres centimeter centimeters",
    "metres": "metre metres meter meters",
    "kilometres": "km kms kilometre kilometres kilometer kilometers",
    "inches": "inch inches",
    "feet": "ft foot feet",
    "yards": "yd yds yard yards",
    "miles": "mi mile miles",
    "acres": "acre acres",
    "hectares": "ha hectare hectares",
    "millilitres": "ml millilitre millilitres milliliter milliliters",
    "litres": "l litre litres liter liters",
    "gallons": "gal gallon gallons",
    "bytes": "byte bytes",
    "kilobytes": "kb kilobyte kilobytes",
    "megabytes": "mb megabyte megabytes",
    "gigabytes": "gb gigabyte gigabytes",
    "terabytes": "tb terabyte terabytes",
    "hertz": "hz hertz",
    "kilohertz": "khz kilohertz",
    "megahertz": "mhz megahertz",
    "gigahertz": "ghz gigahertz",
    "watts": "w watt watts",
    "kilowatts": "kw kilowatt kilowatts",
    "megawatts": "megawatt megawatts",
    "gigawatts": "gw gigawatt gigawatts",
    "kilowatt-hours": "kwh",
    "megawatt-hours": "mwh",
    "volts": "v volt volts",
    "degrees": "° degree degrees",
    "degrees/Celsius": "°c celsius",
    "degrees/Fahrenheit": "°f fahrenheit",
    "km/h": "km/h kmh kph",
    "mph": "mph",
    "times": "times x",
    "percentage points": "pp",
    "basis points": "bp bps",
    "per mille": "‰",
}
UNITS = {word: unit for unit, words in _WORDS.items() for word in words.split()}
"""The unit that a word in lower case names behind a number. An "m" and an "in" say too little."""
ORDINAL = "(ordinal)"
"""The unit of what says a place in an order: 3rd, the third."""
GLUED_UNITS = {"st": ORDINAL, "nd": ORDINAL, "rd": ORDINAL, "th": ORDINAL, "MW": "megawatts"}
"""What counts in this case, directly behind the number."""

TWO_WORDS = {
    ("percentage", "point"): "percentage points",
    ("percentage", "points"): "percentage points",
    ("basis", "point"): "basis points",
    ("basis", "points"): "basis points",
    ("us", "dollars"): "dollars/US",
    ("us", "dollar"): "dollars/US",
    ("u.s", "dollars"): "dollars/US",
    ("u.s", "dollar"): "dollars/US",
    ("canadian", "dollars"): "dollars/Canada",
    ("australian", "dollars"): "dollars/Australia",
    ("hong", "kong"): "dollars/Hong Kong",
    ("pounds", "sterling"): "pounds/sterling",
    ("degrees", "celsius"): "degrees/Celsius",
    ("degrees", "fahrenheit"): "degrees/Fahrenheit",
    ("degrees", "c"): "degrees/Celsius",
    ("degrees", "f"): "degrees/Fahrenheit",
    ("°", "c"): "degrees/Celsius",
    ("°", "f"): "degrees/Fahrenheit",
}
CURRENCY_UNITS = frozenset((*CURRENCY_SIGNS.values(), *CURRENCY_CODES.values(), "pounds"))
MEASURES = {"sq": "square", "square": "square", "cubic": "cubic"}
"""Before a unit of length they make another unit of it."""
BETWEEN = frozenset({"business", "working", "calendar", "consecutive", "full", "whole", "additional", "more"})
"""Words that may stand between a number and its unit."""


def is_part_of(one: str, other: str) -> bool:
    """Whether the second unit, or none, leads on to the first: "dollars" to "dollars/US"."""
    return not other or f"{one}/".startswith(f"{other}/")


def contradict(one: str, other: str) -> bool:
    """Whether two units cannot be meant of the same number; no unit contradicts none."""
    return not (is_part_of(one, other) or is_part_of(other, one))
