"""Words that may stand after a number: units of measurement, counted nouns, words that change the number."""

from __future__ import annotations

# Each dimension, as powers of base dimensions, and its units: the names of a unit, then its size in base units. A unit
# without a size is a dimension of its own. The case of an abbreviation counts: `mg` and `Mg` are different masses
DIMENSIONS = {
    "length": """m meter metre 米 1|cm centimeter centimetre 厘米 1/100|mm millimeter millimetre 毫米 1/1000
        |dm decimeter decimetre 分米 1/10|km kilometer kilometre 千米 公里 1000|nm nanometer nanometre 1/1000000000
        |Mm megameter megametre 1000000|μm micrometer micrometre 1/1000000
        |inch in 254/10000|ft foot feet 3048/10000|yd yard 9144/10000|mi mile 1609344/1000""",
    "length^2": "hectare ha 公顷 10000|acre 40468564224/10000000",
    "length^3": """l L liter litre 升 1/1000|ml mL milliliter millilitre cc 毫升 1/1000000|ML megaliter megalitre 1000
        |cl cL centiliter centilitre 1/100000|dl dL deciliter decilitre 1/10000
        |gallon gal 3785411784/1000000000000|quart qt 946352946/1000000000000|pint pt 473176473/1000000000000""",
    "mass": """g gram gramme 克 1|kg kilogram kilogramme 千克 公斤 1000|mg milligram 毫克 1/1000|吨 tonne Mg 1000000
        |lb pound 45359237/100000|oz ounce 45359237/1600000|μg microgram 1/1000000""",
    "time": """s sec second 秒 1|min minute 分钟 60|h hr hour 小时 时 3600|day 天 86400|week 周 604800
        |ms millisecond 1/1000|μs microsecond 1/1000000
        |month 月|year yr 年|decade|century""",
    "money in dollars": "$ dollar usd USD 美元 1|cent ¢ 1/100",
    "money in euros": "euro eur EUR 欧元 1",
    "money in yen": "yen jpy JPY 円 日元 1",
    "money in yuan": "yuan rmb RMB cny CNY renminbi 元 人民币 1",
    "money in pounds": "gbp GBP sterling 英镑 1|pence 1/100",
    "money in rupees": "rupee inr INR 1",
    "angle": "rad radian 1",
    "mass length^2 time^-2": "J joule 1000|kJ kilojoule 1000000|MJ megajoule 1000000000|cal calorie 4184"
    "|kcal 4184000|eV|keV|MeV",
    "mass length^2 time^-3": "W watt 1000|kW kilowatt 1000000|MW megawatt 1000000000|mW milliwatt 1",
    "mass length time^-2": "N newton 1000|kN kilonewton 1000000",
    "mass length^-1 time^-2": "Pa pascal 1000|kPa kilopascal 1000000|MPa megapascal 1000000000|atm",
    "time^-1": "Hz hertz 1|kHz kilohertz 1000|MHz megahertz 1000000|GHz gigahertz 1000000000|rpm",
    "voltage": "V volt 1|mV millivolt 1/1000|kV kilovolt 1000",
    "current": "A ampere amp 1|mA milliampere milliamp 1/1000",
    "resistance": "ohm \\Omega 1|kiloohm 1000",
    "temperature": "K kelvin",
    "celsius": "celsius",
    "fahrenheit": "fahrenheit",
    "amount": "mol mole 1|mmol millimole 1/1000",
    "data": "bit 1|byte 8",
}
# one word for a quotient of two units
COMPOUND = {
    "mph": (("mile", 1), ("hour", -1)),
    "kph": (("km", 1), ("hour", -1)),
    "kmh": (("km", 1), ("hour", -1)),
    "kmph": (("km", 1), ("hour", -1)),
    "mps": (("m", 1), ("s", -1)),
    "fps": (("ft", 1), ("s", -1)),
}
# nouns counted one by one: such a noun never changes the number before it
COUNTED = frozenset(
    """adult animal answer ant apple apricot arrangement article axis ball balloon banana baseball basketball
    bead bean bear bee bench berry bicycle bike bird blanket block board boat book bottle bowl box boy bracelet
    brick brother brownie bug bus button cake calf camel camper can candle candy car card carrot case cat cell
    chair chapter cherry chicken child children chip chocolate choice circle citizen city class clip clock
    coconut coin color colour combination computer contestant cookie corner cow crate crayon
    cube cup cupcake customer daisy deer desk diamond dice die digit dime divisor doctor dog doll dollar donkey
    donut door dot dress driver drop duck edge egg element elephant employee engineer envelope eraser event face
    factor fan farmer fish flag floor flower fork friend frog fruit function game gem gift girl glass goat
    goldfish grade grape graph guest guitar ham handshake hat head heart hen hexagon hole horse hose house integer item
    jar jewel job juror key kid kite kitten knight ladder lamp lane lap leaf leaves leg lemon letter light line
    lion list log lollipop loser machine magazine mango map marble mark match meal meeting melon member men mice
    minor mistake monkey mouse movie muffin nail name necklace neighbor nickel note notebook number nurse nut
    object octagon onion option orange orchard outcome outfit owl page painting pancake paper parent park parrot
    part participant partition passenger path patient pattern peach peanut pear pearl pen pencil pennies penny
    pentagon people permutation person phone photo picture pie piece pig pigeon pill pillow pirate pizza plan
    plane plant plate player plum point pole polygon position possibility post potato prize problem program
    pupil puppy puzzle quarterback quarterly question rabbit racer rectangle rhombus ribbon ring robot rock room
    root rope rose route row ruler sandwich scarf seashell seat sheep sheet shelf shell shirt shoe shop
    side sister skirt slice snack snake soldier solution song spider spoon square stamp star state step stick
    sticker stone story straw strawberry student subset sweet swimmer table tank teacher team teeth tent term
    test ticket tile time tire toad token tomato tooth toy tractor train trapezoid tree triangle trip truck
    tulip turkey turn turtle unit value vehicle vertex vertices visitor volunteer vote voter wagon walnut
    watermelon way wheel window winner woman women word worker year zebra""".split()  # noqa: SIM905
)
# Adjectives that may stand before a counted or measured noun; they are dropped
DESCRIBING = frozenset(
    """old tall long wide high deep away apart total altogether each left remaining red blue green yellow white black
    brown pink purple gold silver big small whole full fresh different distinct real complex possible""".split()  # noqa: SIM905
)
# Words that operate on the number before them. The word behind them is never a unit, even if the question names it
NEVER = frozenset(
    """not no is isn't never wrong if when than then but maybe perhaps else otherwise plus minus times more less fewer
    about approximately around roughly between with without where for the correct incorrect false true actually answer
    however and or to either neither both also likely unknown unless except all none any undefined mod modulo
    versus vs past until till after before over under below above negative  squared cubed factorial
    repeating recurring choose base power inverse reciprocal even odd prime zero hundred thousand million billion
    trillion nor nope nay oops sorry instead rather was were be been are am will would should could can't cannot off
    short up down out minus-sign opposite complement percent percentage basis bp bps oder und ou et o y e
    excluding including omitting ignoring discarding
    adding subtracting doubling halving tripling negating squaring missing lacking exceeding dividing multiplying
    increasing decreasing reversing inverting subtract add multiply divide negate halve triple""".split()  # noqa: SIM905
)
# Words that name a number: `2 dozen` is not 2
NUMBER_WORDS = frozenset(
    """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety half halves quarter quarters third thirds
    first second-half twice thrice double triple quadruple gross lakh lac crore percentile permille ppm ppb pair couple
    dozen hundred thousand million billion trillion score tens ones unity myriad octet trio duo fold twofold threefold
    grosses dozens hundreds thousands millions billions trillions tenth hundredth thousandth""".split()  # noqa: SIM905
)
# Nouns and verbs in -ly: they are not adverbs
NOUNS_IN_LY = frozenset(
    [
        "family",
        "jelly",
        "lily",
        "fly",
        "butterfly",
        "ally",
        "belly",
        "bully",
        "rally",
        "reply",
        "supply",
        "assembly",
        "anomaly",
        "monopoly",
    ]
)
# Chinese measure words
COUNTERS = frozenset("个人只本张支件条块辆棵朵颗头座名位次种页岁间份套双盒箱袋瓶杯")
