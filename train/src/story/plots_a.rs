//! The first half of the plots.

use super::plots::shared::{MEET, MEET_G, THANKS, WALK, WHY};
use super::plots::{Mood, Plot, Theme};
use super::words::Gift;

/// Plots told by day: things lost, found, made and shared.
pub const PLOTS_A: [Plot; 8] = [
    Plot {
        name: "lost thing",
        topics: &["a lost {O}", "a {L} {O}", "a snail who lost [a {O}|something]"],
        gifts: [Some(Gift::Flies), None],
        theme: Theme::Thing,
        mood: Mood::Dry,
        beats: &[
            (
                100,
                &[
                    "{H} [looked for|wanted to play with|could not find] {H.p} {L} {O}[, but it was gone|. It was gone|. It was not there].",
                    "{H} had a {L} {O}, but [now it was gone|today it was lost|it was not in its place].",
                    "{H} [woke up|came home] and saw that {H.p} {L} {O} was [gone|lost|not there].",
                ],
            ),
            (
                70,
                &[
                    "{H} looked <by> the <place> and <by> the <place>, but [there was no {O}|it was not there|found nothing].",
                    "{H.s} looked <past> [every leaf|the big leaves|each stone] and <by> the <place>, [but found nothing|but there was nothing].",
                ],
            ),
            (100, MEET),
            (70, WHY),
            (
                100,
                &[
                    "(H: I [lost|cannot find] my {L} {O}. [Have you seen it|Can you help me|Did you see it]?)",
                    "(H: My {L} {O} is [gone|lost]! [Please help me|Help me look|Will you help me look]!)",
                ],
            ),
            (
                100,
                &[
                    "{F} flew up [high|into the air] and looked [all around|down|over the garden]. (F: [I see it|There it is|I can see something {L}]! It is <by> the {Q}!)",
                    "(F: I will look from above.) [<soon>|up in the air], {F.s} saw the {O} <by> the {Q}.",
                    "(F: [I flew over|I just saw something {L} <by>|I think it is <by>] the {Q}. [Come with me|Follow me|Let us go there].)",
                ],
            ),
            (50, WALK),
            (
                100,
                &[
                    "There it was! The {L} {O} [lay|was lying] [in the grass|under a leaf|between two stones|in the moss].",
                    "[And there|<by> the {Q}], [in the grass|under a leaf|between two stones|in the moss], [lay|was] the {L} {O}.",
                ],
            ),
            (90, THANKS),
        ],
        morals: &["{H} [always kept|put] the {O} in a safe place[ now| after that|].", "The {O} was never lost again."],
    },
    Plot {
        name: "found thing",
        topics: &["a {L} {O}", "a snail who found [a {O}|something]", "something {L}"],
        gifts: [None, None],
        theme: Theme::Thing,
        mood: Mood::Dry,
        beats: &[
            (
                100,
                &[
                    "<by> the {P}, {H} found a {L} {O} [in the grass|under a leaf|between two stones|in the moss].",
                    "Something {L} [lay|was] [in the grass|under a leaf|between two stones|in the moss]. It was a {O}!",
                    "{H} [saw|found] a {L} {O} [in the grass|under a leaf|between two stones|in the moss] <by> the {P}.",
                ],
            ),
            (
                80,
                &[
                    "(H: [Whose {O} is this|Who lost this {O}|Where did this {O} come from]?)",
                    "(H: [What a [lovely|fine|pretty] {O}|Somebody must miss this {O}|This is not mine. I must find out whose it is].)",
                    "{H} wanted to keep it, but [somebody|a friend] [must be looking for it|might be sad without it|might miss it].",
                ],
            ),
            (60, MEET_G),
            (0, &[""]),
            (100, WALK),
            (
                100,
                &[
                    "There sat {F} the {F.k}, and {F.s} [was crying|looked so <sad>|had tears in {F.p} eyes].",
                    "<by> the {Q}, [a {F.k} named {F}|{F} the {F.k}] was [looking for something|crying|sitting all alone].",
                ],
            ),
            (
                100,
                &[
                    "(F: I lost my {L} {O}! [It was from my mother|I had it since I was small|I looked everywhere]!)",
                    "(F: My {L} {O} is gone. [It was from my grandmother|I looked everywhere|I miss it so much].)",
                    "(F: Have you seen my {O}? It is {L}[ and I love it| and very dear to me|].)",
                ],
            ),
            (
                100,
                &[
                    "{H} [held out|gave {F.o}|showed {F.o}] the {L} {O}. (H: [Is this yours|Is it this one|Could it be this one], {F}?)",
                    "(H: [Look what I found|Do not cry|Here it is], {F}!) And {H} gave {F.o} the {L} {O}.",
                ],
            ),
            (
                100,
                &[
                    "(F: [Yes|Oh yes|That is it]! Thank you, [kind |dear |]{H}!)",
                    "{F} [laughed|jumped|danced|sang] for joy[ and hugged {H}| and thanked {H}|].",
                    "{F} was so <happy> that {F.s} [danced around {H}|hugged {H}|laughed out loud].",
                ],
            ),
        ],
        morals: &[
            "It felt [good|fine|better] to give [something|the {O}] back.",
            "{H} had no {O}, but {H.s} had a new friend.",
        ],
    },
    Plot {
        name: "race",
        topics: &["a race", "a slow snail", "a race to the {Q}"],
        gifts: [Some(Gift::Quick), None],
        theme: Theme::Place,
        mood: Mood::Dry,
        beats: &[
            (100, MEET),
            (
                100,
                &[
                    "(F: [Let us race|I will race you|Shall we race] to the {Q}[, {H}|, <dear>|]!)",
                    "(F: I am [the fastest|faster than you|so fast]! [Let us race|Race me] to the {Q}!)",
                ],
            ),
            (
                90,
                &[
                    "(H: I am [slow|only a snail|not fast], but I will [try|do my best|come].)",
                    "(H: [Why not|All right|Yes|Good]. I will [try|do my best|go as fast as I can].)",
                ],
            ),
            (
                100,
                &[
                    "{F} {F.m} off [like the wind|at once|so fast|and laughed], [and|but] {H} [just |]<slid> [<slowly>|step by step|along the path].",
                    "One, two, three! {F} {F.m} away [like the wind|at once|so fast], and {H} <slid> [<slowly>|after {F.o}|behind {F.o}].",
                ],
            ),
            (
                100,
                &[
                    "[But|<soon>,] {F} [fell asleep|stopped to eat a {C}|took the wrong path|stopped to rest] <by> the <place>.",
                    "<by> the <place>, {F} [was so sure of winning that {F.s} fell asleep|stopped to eat a {C}|got lost].",
                    "[But|<soon>] {F} was tired and [slept|lay down|took a nap] <by> the <place>.",
                ],
            ),
            (
                100,
                &[
                    "{H} did not stop. [Step by step|<past> the <place>|<slowly>], {H.s} <slid> on.",
                    "{H} <slid> on and on, <past> the <place>[ and the <place>|].",
                    "{H} [kept going|went on|never stopped], [past|around] the <place>[ and the <place>|].",
                ],
            ),
            (
                100,
                &[
                    "When {F} came to the {Q}, {H} was [already |]there[ and smiled| and waited|].",
                    "At the {Q}, {H} was first[, and {F} came after|]!",
                    "{H} came to the {Q} first, and [all the animals|the birds|everyone] [cheered|clapped].",
                ],
            ),
            (
                90,
                &[
                    "(F: You won, {H}! [Well done|I am sorry that I laughed|How did you do it]!)",
                    "(F: [Well done|You did it|Good for you], [<dear>|{H}]! [You won|You were better].)",
                    "{F} laughed and shared a {C} with {H}.",
                ],
            ),
        ],
        morals: &[
            "[Slow steps|Small steps|Slow and steady] [can go far|can win|also come home|get there too].",
            "[Nobody|No one] laughed at [slow snails|a slow snail] [after that|again].",
        ],
    },
    Plot {
        name: "hungry",
        topics: &["a {C}", "a hungry snail", "a snail who [wanted a {C}|was hungry]"],
        gifts: [Some(Gift::Strong), Some(Gift::Flies)],
        theme: Theme::Food,
        mood: Mood::Dry,
        beats: &[
            (
                100,
                &[
                    "{H} was [so |very |]hungry and [dreamed of|wished for|wanted] a {C}.",
                    "(H: I am so hungry! I [wish I had|would love|want] a [ripe|fresh|sweet|juicy] {C}!)",
                    "{H.p} tummy was empty, and {H} [wanted|wished for|thought of] a [ripe|fresh|sweet|juicy] {C}.",
                ],
            ),
            (60, WALK),
            (
                100,
                &[
                    "<by> the {Q}, {H} saw a [ripe|fresh|sweet|juicy|big] {C}, but it [was too high|hung too high|was out of reach|lay on a high stone].",
                    "A [ripe|fresh|sweet|juicy|big] {C} was there, [high up|high above {H}|up on a wall|up on a big stone] <by> the {Q}.",
                ],
            ),
            (
                60,
                &[
                    "{H} [stretched|tried|reached up] [once|twice|three times|again and again], but {H.s} [was too small|could not reach it|fell down].",
                    "{H} [climbed|tried to climb], but [the wall|the stem|it] was too [smooth|steep|high].",
                ],
            ),
            (100, MEET),
            (
                90,
                &[
                    "(H: Can you help me, {F}? I cannot reach the {C}[.|!|. It is too high.] Please?)",
                    "(F: [Are you hungry|Do you want the {C}|Shall I help you], [<dear>|{H}]?)",
                    "(F: [You look hungry|That {C} is high up|I can help you|Wait, I am strong], [<dear>|{H}].)",
                ],
            ),
            (
                100,
                &[
                    "{F} [shook|pushed|pulled|bent] the [stem|branch|plant] [with all {F.p} might|as hard as {F.s} could|once, twice], and the {C} fell [down|into the grass].",
                    "{F} [lifted {H} up|took {H} on {F.p} back|let {H} climb on {F.p} back], and [<soon>|so] {H.s} [reached|got|had] the {C}.",
                ],
            ),
            (
                100,
                &[
                    "(H: [Let us share|We will share|Half is for you|Come and eat with me], {F}!)",
                    "{H} [gave half of the {C} to {F}|shared the {C} with {F}|cut the {C} in two, one half for {F}].",
                ],
            ),
            (
                80,
                &[
                    "[It was|The {C} was] [so |very |]sweet and [juicy|fresh|good], and they ate [every bit|it all|until they were full].",
                    "They ate [together |]<by> the {Q} and [talked|laughed|sang|told stories].",
                ],
            ),
        ],
        morals: &[
            "[A {C}|Food|Everything] tastes [better|best|twice as good] [with a friend|when you share].",
            "{H} was [full|not hungry any more] and very <happy>.",
        ],
    },
    Plot {
        name: "birthday",
        topics: &["a birthday", "a gift for {F}", "a {L} {O} for {F}", "{F}'s birthday"],
        gifts: [None, None],
        theme: Theme::Thing,
        mood: Mood::Dry,
        beats: &[
            (
                100,
                &[
                    "It was the birthday of {F} the {F.k}, [and|but] {H} had no [gift|present] [yet|for {F.o}].",
                    "(H: Today is {F}'s birthday! [What can I give {F.o}|I need a gift|What would {F.s} like]?) {F} was a {F.k}.",
                    "{F} the {F.k} had a birthday, and {H} wanted to [find|make] a [gift|present].",
                ],
            ),
            (100, MEET_G),
            (
                90,
                &[
                    "(H: What [does {F} like|would make {F} happy|should I give to {F}], {G}?) (G: [I think|Maybe|I know!] [{F.s} would like|{F.s} wants|{F.s} always wanted] a {L} {O}.)",
                    "(G: [I know that|I heard that] {F} [wants|wishes for|would love] a {L} {O}.)",
                ],
            ),
            (
                100,
                &[
                    "[So |]{H} [looked|searched] <by> the <place> and <by> the <place>, and [<soon>|there] {H.s} found a {L} {O}.",
                    "{H} looked [everywhere|all day|for a long time]. [<soon>|<by> the <place>], {H.s} found a {L} {O}.",
                    "{H} [worked all day|worked hard|took some wood and some paint] and made a {L} {O}.",
                ],
            ),
            (
                50,
                &[
                    "{H} [put it in|hid it in] a [big|green|soft|round] leaf[ and some grass|].",
                    "It [looked|was] [lovely|fine|just right|so pretty].",
                ],
            ),
            (70, WALK),
            (
                100,
                &[
                    "(H: Happy birthday, [dear |]{F}! [This is for you|I have something for you|Look, a gift]!)",
                    "{H} gave [the {O}|the gift|the {L} {O}] to {F}. (H: Happy birthday[, my friend|, dear {F}|]!)",
                ],
            ),
            (
                100,
                &[
                    "(F: A {L} {O}! [Thank you|It is so pretty|I love it|Just what I wanted], {H}!)",
                    "{F} [opened it|looked] and [laughed|danced|clapped|jumped] for joy. (F: A {L} {O}! Thank you!)",
                ],
            ),
            (
                60,
                &[
                    "They [all |]ate [cake|{C} cake|honey cake] and [sang|danced|played] until [evening|night|the stars came out].",
                    "{G} came too, and they [ate cake|sang|danced|played] until [evening|night|the stars came out].",
                ],
            ),
        ],
        morals: &["A gift makes [two friends|everyone] happy.", "It was the best birthday [of all|that {F} ever had]."],
    },
    Plot {
        name: "new neighbour",
        topics: &["a new friend", "a shy {F.k}", "a snail and a shy {F.k}"],
        gifts: [None, None],
        theme: Theme::Place,
        mood: Mood::Dry,
        beats: &[
            (
                100,
                &[
                    "[A new {F.k}|A shy {F.k}|A young {F.k}] had [come to live|moved in|made a home] <by> the {Q}.",
                    "{H} heard that a [new|shy|young] {F.k} lived <by> the {Q}[ now|].",
                ],
            ),
            (60, MEET_G),
            (
                60,
                &[
                    "(G: The new {F.k} never [sings|speaks|comes out]. [Maybe {F.s} is afraid|I think {F.s} is shy|Maybe {F.s} is lonely].)",
                    "(G: Nobody knows the new {F.k}. [Maybe {F.s} is shy|Please go there|I think {F.s} is lonely].)",
                ],
            ),
            (
                70,
                &[
                    "{H} [took|picked|carried] a [ripe|fresh|sweet] {C} [as a gift|along|to share].",
                    "(H: [I will say hello|I will go and see|We should be kind to {F.o}|A {C} will make {F.o} happy].)",
                ],
            ),
            (90, WALK),
            (
                100,
                &[
                    "The {F.k} [hid|was hiding|sat] [behind|under] a [leaf|stone|root] and [did not speak|looked at the ground|said nothing].",
                    "[Two eyes|A shy face|A small face] looked out from [behind a leaf|under a root|behind a stone].",
                ],
            ),
            (
                100,
                &[
                    "(H: Hello! I am {H}. [What is your name|Who are you|Will you play with me|Do you like songs]?)",
                    "(H: [Do not be afraid|Good day|Welcome]! My name is {H}. [What is your name|What is yours|And you]?)",
                ],
            ),
            (
                100,
                &[
                    "(F: I am {F}. [I have no friends here|I know nobody here|I am new here|I was afraid].)",
                    "(F: My name is {F}. [Nobody came to see me|I was so lonely|I was too shy to come out].)",
                ],
            ),
            (
                100,
                &[
                    "(H: [Now you have me|Now I am your friend|Come and play with us|Let us be friends], {F}!)",
                    "(H: Then [come with me|let us play|let us be friends|come to my home]. I will show you [the garden|the <place>|everything].)",
                ],
            ),
            (
                70,
                &[
                    "They [played|sang|talked|laughed] [all day|until evening|together|for a long time] <by> the <place>.",
                    "{F} smiled [for the first time|at last|a little and then a lot], and they [played|sang|talked] until evening.",
                ],
            ),
        ],
        morals: &[
            "[One kind word|A small hello|A smile] can [make a friend|make you happy].",
            "{F} was never [lonely|alone|shy] again.",
        ],
    },
    Plot {
        name: "quarrel",
        topics: &["a quarrel", "{F} and {G}", "two friends and a {O}"],
        gifts: [None, None],
        theme: Theme::Thing,
        mood: Mood::Dry,
        beats: &[
            (
                100,
                &[
                    "{H} heard [loud voices|a noise|shouting] <by> the {Q}. {F} the {F.k} and {G} the {G.k} [both wanted|were fighting over|were pulling at] a {L} {O}.",
                    "<by> the {Q}, {F} the {F.k} and {G} the {G.k} [both wanted|were fighting over|were pulling at] a {L} {O}.",
                ],
            ),
            (100, &["(F: [It is my {O}|The {O} is mine|Give it to me]! I [saw it first|found it|had it first]!)"]),
            (
                100,
                &[
                    "(G: No, [it is mine|I want it|give it back|I had it first]!) [And {G} pulled.|Both were red in the face.|They were so cross.|]",
                ],
            ),
            (
                80,
                &[
                    "{H} [thought for a while|thought about it|came closer|was sad to see it|shook {H.p} head].",
                    "{H} did not like [to see friends fight|the shouting|this at all].",
                ],
            ),
            (
                100,
                &[
                    "(H: [Wait|Stop|Listen, friends|Please stop]! [You could share it|You can share it|You can take turns]. {F} has it [today|in the morning|first], and {G} [tomorrow|in the evening|after that].)",
                    "(H: [Wait|Stop|Listen, friends|Please stop]! A {O} is [only a {O}|not worth a quarrel|no fun alone]. But a friend is [a treasure|more than that|for ever].)",
                ],
            ),
            (
                100,
                &[
                    "{F} and {G} [looked at each other|were quiet|looked at the ground|stopped at once]. (F: [I am sorry|You are right, {H}|That was silly of us|We will share it].)",
                    "(G: [I am sorry|You are right, {H}|That was silly of us|We will share it].) {F} nodded [too|and smiled|and gave {G.o} the {O}].",
                ],
            ),
            (
                90,
                &[
                    "[<soon>|So], all three [played|were playing|had fun] with the {L} {O} <by> the <place>.",
                    "They [took turns|shared the {O}|played together] [all day|until evening|<by> the <place>], and {H} [laughed|sang|clapped|watched].",
                ],
            ),
        ],
        morals: &[
            "[Sharing|A shared {O}] is [more fun|better] than [fighting|winning].",
            "{F} and {G} [never fought again|were friends again].",
        ],
    },
    Plot {
        name: "seed",
        topics: &["a seed", "a snail who [planted|found] a seed", "a little plant"],
        gifts: [Some(Gift::Strong), None],
        theme: Theme::Food,
        mood: Mood::Dry,
        beats: &[
            (
                100,
                &[
                    "{H} found a [small|tiny|round|brown] seed <by> the <place>.",
                    "[The wind|A bird|A kind bird] dropped a [small|tiny|round|brown] seed [before {H}|in the grass|on {H.p} shell].",
                ],
            ),
            (
                90,
                &[
                    "(H: [I will plant it|I wonder what it will be|It will grow if I wait] <by> the {Q}.)",
                    "(H: What [is inside|will you be|can it be], little seed?)",
                ],
            ),
            (60, WALK),
            (
                100,
                &[
                    "{F} the {F.k} [helped {H.o} to dig|dug a hole|made a hole] <by> the {Q}, and {H} [put the seed in|laid the seed in it|planted the seed].",
                    "<by> the {Q} lived {F} the {F.k}. {F.s} dug a [small |deep |]hole, and {H} [put|laid] the seed in[ it|].",
                ],
            ),
            (
                100,
                &[
                    "Every [day|morning|evening], {H} [brought it [water|dew]|gave it [water|dew]|sang to it|came to look at it] [on the way to the <place>|with {F}|with a smile]. [But nothing came|Nothing happened] [for a week|for days|at first].",
                    "{H} waited [one day, two days, three days|day after day|for many days]. (F: [Be patient|It needs time|Wait a little more|It is only sleeping], {H}.)",
                ],
            ),
            (
                80,
                &[
                    "[It rained|The rain came|A soft rain fell], and [then |]the sun [shone|came out] over the <place>[ and the <place>|].",
                    "(H: I can wait. [Snails are good at waiting|I have time|Good things are slow].)",
                ],
            ),
            (
                100,
                &[
                    "[<soon>|Then one <weather> morning|One <weather> day], a [tiny|small|fresh] green leaf [looked out|came up|peeped out] of the [earth|ground|moss|grass].",
                    "[<soon>|Then one <weather> morning|One <weather> day], there was a [tiny|small|fresh] green [leaf|plant] <by> the {Q}! (H: [Look|Come and see|It grows], {F}!)",
                ],
            ),
            (
                100,
                &[
                    "It grew [and grew|taller than {H}|every day|slowly], and [in the end|at last|in summer|one <weather> <daytime>] [there was a {C} on it|it gave them a [ripe|fresh|sweet] {C}].",
                    "The plant grew [bigger|taller] [each day|every week], and [at last|in summer] {H} and {F} [picked|found|shared] a [ripe|fresh|sweet] {C}.",
                ],
            ),
        ],
        morals: &[
            "[Good things|Small things|The best things] [need time|grow slowly|come to those who wait].",
            "{H} [kept one seed for next year|planted a new seed].",
        ],
    },
];
