//! The words: names, animals, places, things, and the lists that templates name as `<list>`.

/// Heroes: name and whether "she".
pub const HEROES: [(&str, bool); 24] = [
    ("Tilly", true),
    ("Molly", true),
    ("Susie", true),
    ("Nelly", true),
    ("Wendy", true),
    ("Bella", true),
    ("Penny", true),
    ("Sally", true),
    ("Emma", true),
    ("Mina", true),
    ("Clara", true),
    ("Dora", true),
    ("Toby", false),
    ("Sammy", false),
    ("Olly", false),
    ("Max", false),
    ("Felix", false),
    ("Bruno", false),
    ("Milo", false),
    ("Henry", false),
    ("Oscar", false),
    ("Teddy", false),
    ("Leo", false),
    ("Rusty", false),
];

/// Friends of the heroes: name and whether "she". No name is in both lists.
pub const FRIENDS: [(&str, bool); 24] = [
    ("Lulu", true),
    ("Mimi", true),
    ("Zoe", true),
    ("Greta", true),
    ("Dotty", true),
    ("Annie", true),
    ("Tess", true),
    ("Kiki", true),
    ("Rosa", true),
    ("Nora", true),
    ("Ida", true),
    ("Betty", true),
    ("Pip", false),
    ("Bert", false),
    ("Hugo", false),
    ("Ben", false),
    ("Gus", false),
    ("Otto", false),
    ("Fritz", false),
    ("Jack", false),
    ("Tom", false),
    ("Ned", false),
    ("Barny", false),
    ("Karl", false),
];

/// What an animal can do, so that no worm flies and no moth pulls a friend out of the mud.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gift {
    /// Has wings and can look from above.
    Flies,
    /// Strong enough to pull, push and carry.
    Strong,
    /// Small and quick.
    Quick,
}

/// An animal of the garden.
#[derive(Debug)]
pub struct Kind {
    /// "bee"
    pub name: &'static str,
    /// What it is good at.
    pub gift: Gift,
    /// Ways to move, past tense.
    pub moved: [&'static str; 2],
}

/// All animals but the snail.
pub const KINDS: [Kind; 16] = [
    Kind { name: "bee", gift: Gift::Flies, moved: ["flew", "buzzed"] },
    Kind { name: "ladybird", gift: Gift::Flies, moved: ["flew", "hummed"] },
    Kind { name: "butterfly", gift: Gift::Flies, moved: ["fluttered", "flew"] },
    Kind { name: "moth", gift: Gift::Flies, moved: ["fluttered", "flew"] },
    Kind { name: "robin", gift: Gift::Flies, moved: ["flew", "hopped"] },
    Kind { name: "mole", gift: Gift::Strong, moved: ["shuffled", "walked"] },
    Kind { name: "toad", gift: Gift::Strong, moved: ["hopped", "walked"] },
    Kind { name: "hedgehog", gift: Gift::Strong, moved: ["shuffled", "ran"] },
    Kind { name: "beetle", gift: Gift::Strong, moved: ["marched", "walked"] },
    Kind { name: "rabbit", gift: Gift::Strong, moved: ["hopped", "ran"] },
    Kind { name: "ant", gift: Gift::Quick, moved: ["marched", "ran"] },
    Kind { name: "worm", gift: Gift::Quick, moved: ["wriggled", "slid"] },
    Kind { name: "mouse", gift: Gift::Quick, moved: ["ran", "jumped"] },
    Kind { name: "spider", gift: Gift::Quick, moved: ["ran", "climbed"] },
    Kind { name: "cricket", gift: Gift::Quick, moved: ["hopped", "jumped"] },
    Kind { name: "frog", gift: Gift::Quick, moved: ["hopped", "jumped"] },
];

/// Places, after "the".
pub const PLACES: [&str; 20] = [
    "old well",
    "rose bush",
    "apple tree",
    "stone wall",
    "pond",
    "garden gate",
    "wooden bench",
    "bean patch",
    "tool shed",
    "hollow log",
    "little bridge",
    "thick hedge",
    "flower pot",
    "strawberry bed",
    "mossy rock",
    "oak tree",
    "stream",
    "sandy path",
    "broken fence",
    "lavender bush",
];

/// Things that can be lost, found, given and shared.
pub const THINGS: [&str; 16] = [
    "button", "bell", "ribbon", "lamp", "coin", "feather", "kite", "drum", "key", "spoon", "whistle", "marble", "hat",
    "scarf", "basket", "flute",
];

/// What a thing looks like.
pub const LOOKS: [&str; 12] =
    ["red", "blue", "yellow", "green", "white", "purple", "shiny", "tiny", "pretty", "golden", "silver", "striped"];

/// What one can eat, singular, no plural needed.
pub const FOODS: [&str; 12] = [
    "strawberry",
    "cherry",
    "plum",
    "pear",
    "lettuce leaf",
    "apple",
    "mushroom",
    "pea pod",
    "radish",
    "blackberry",
    "carrot",
    "cabbage leaf",
];

/// Manners of a hero.
pub const MANNERS: [&str; 14] = [
    "small", "kind", "brave", "shy", "cheerful", "gentle", "young", "curious", "patient", "clever", "friendly",
    "quiet", "funny", "dreamy",
];

/// Named lists: `<name>` in a template takes one entry, which may itself be a template.
pub const LISTS: &[(&str, &[&str])] = &[
    ("weather", &["bright", "warm", "misty", "cool", "windy", "cloudy", "golden", "fresh", "fine", "sunny"]),
    ("daytime", &["morning", "afternoon", "day", "evening"]),
    ("garden", &["quiet", "sunny", "green", "little", "wild", "lovely", "big", "hidden", "merry", "sleepy"]),
    ("slid", &["slid", "crept", "crawled", "glided", "went", "moved"]),
    ("slowly", &["slowly", "gently", "happily", "quietly", "carefully", "patiently", "bravely", "calmly"]),
    ("softly", &["softly", "gently", "kindly", "quietly", "warmly", "slowly", "at once", "with a smile"]),
    ("by", &["by", "near", "behind", "beside", "close to", "not far from"]),
    ("past", &["past", "around", "behind", "by"]),
    (
        "shell",
        &[
            "round", "brown", "smooth", "striped", "shiny", "spotted", "golden", "pink", "yellow", "tiny", "neat",
            "curly",
        ],
    ),
    (
        "pastime",
        &[
            "to hum little songs",
            "to count the stars",
            "to listen to the rain",
            "to tell stories",
            "to look at the clouds",
            "to make new friends",
            "to paint with mud",
            "to smell the flowers",
            "to sleep in the shade",
            "to watch the moon",
            "to dance in the dew",
            "to ask questions",
            "to count leaves",
            "to ride on leaf boats",
            "to help others",
            "to play in the grass",
        ],
    ),
    (
        "soon",
        &["soon", "then", "after a while", "a little later", "before long", "just then", "at last", "not much later"],
    ),
    ("happy", &["happy", "glad", "proud", "cheerful", "merry", "pleased"]),
    ("sad", &["sad", "worried", "lonely", "upset", "unhappy"]),
    ("dear", &["dear", "my friend", "little snail", "dear snail", "my dear", "little one"]),
    ("oh", &["Oh", "Oh dear", "Oh no", "Well", "Dear me"]),
    (
        "dream",
        &[
            "soft [green |big |]leaves",
            "the [big |round |]moon",
            "a warm [summer |]rain",
            "[ten|many|three] new friends",
            "a boat made of leaves",
            "strawberries",
            "[sweet|fresh] clover",
            "the [song|songs] of the [birds|bees|wind|rain]",
            "a garden full of [roses|flowers|friends|strawberries]",
            "stars and dew",
            "another [fine|happy|sunny] day",
            "flying over the trees",
        ],
    ),
    (
        "dry",
        &[
            "[A|One] [small|white|grey|soft|round] cloud [drifted|sailed|floated|hung] over the <place>.",
            "[A|The] [soft|warm|light|gentle] wind [moved|played|danced|sang] in the [tall grass|leaves|flowers|branches|reeds|ivy].",
            "The [tall|yellow|white|blue|wild] [flowers|roses|daisies|tulips] [nodded|danced|smelled sweet|glowed] <by> the <place>.",
            "Drops of [dew|water] [shone|sparkled|glittered] [on the grass|on every leaf|on the roses|on the spider webs|on the clover].",
            "[Somewhere|High up|Far away] <by> the <place>, a [blackbird|sparrow|bird] [sang|whistled|called] [a song|softly|a happy tune|twice].",
            "The [air|garden|grass|path] smelled of [mint|roses|wet earth|honey|apples|clover|strawberries].",
            "The [stones|leaves] <by> the <place> [were|felt] [warm|cool|smooth|soft|wet].",
            "[Two|Three|Some|Many] [bees|flies|sparrows|butterflies|birds] [flew|passed|danced] over the <place>.",
        ],
    ),
    (
        "wet",
        &[
            "The [rain|water] [danced|sang|fell|ran] on the <place>.",
            "[Big|Small|Cold|Silver|Heavy] drops [fell|ran|danced] from the [leaves|branches|roses|ivy].",
            "The [path|grass|earth|garden] <by> the <place> was [soft|wet|dark|cold|full of puddles].",
            "[Grey|Dark|Heavy|Big] clouds [hung|sailed|stood] over the <place>.",
            "The [wet|cool] [air|garden|grass] smelled of [mint|roses|earth|moss|clover].",
            "A [cold|strong|wild|wet] wind [shook|bent] the [tall grass|flowers|branches|reeds|ivy].",
        ],
    ),
    (
        "night",
        &[
            "The [moon|stars] [shone|looked down|glowed|hung] [softly|quietly] over the <place>.",
            "[Somewhere|Far away] <by> the <place>, an owl [called|sang] [softly|twice|once|again].",
            "The [grass|path|garden|air] <by> the <place> was [dark|cool|still|silver|quiet].",
            "A [soft|cool|light|gentle] wind [moved|danced|sang] in the [tall grass|leaves|branches|reeds|ivy].",
            "[Two|Three|Some] [moths|bats] [flew|passed|danced] over the <place>.",
            "The [flowers|roses|daisies|tulips] <by> the <place> [slept|were closed|smelled sweet].",
        ],
    ),
];
