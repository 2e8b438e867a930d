//! The second half of the plots.

use super::plots::shared::{MEET, MEET_G, THANKS, WALK};
use super::plots::{Mood, Plot, Theme};
use super::words::Gift;

/// Plots of rain, night, wishes and small dangers.
pub const PLOTS_B: [Plot; 8] = [
    Plot {
        name: "rain",
        topics: &["the rain", "a rainy day", "a {F.k} in the rain", "a storm"],
        gifts: [Some(Gift::Quick), None],
        theme: Theme::Place,
        mood: Mood::Wet,
        beats: &[
            (
                100,
                &[
                    "[It rained and rained|The rain fell and fell|It rained very hard], but {H} [liked the rain|loved every drop|was safe in {H.p} shell].",
                    "[Big drops fell|A storm came|It rained hard], and [everyone ran home|all the animals ran home|{H} hid in {H.p} shell].",
                ],
            ),
            (
                100,
                &[
                    "<by> the <place>, {F} the {F.k} sat [all wet|and shook|in a puddle|under a leaf], [wet and cold|and {F.s} looked <sad>].",
                    "<soon>, {H} saw {F} the {F.k} <by> the <place>. {F.s} was [wet and cold|all wet|cold and <sad>].",
                ],
            ),
            (
                100,
                &[
                    "(F: [My home is full of water|The rain broke my home|I have no home|I cannot find my way home|Water came into my house][! What can I do|. I am so cold|. Please help me].)",
                    "(F: [I am so wet|I am so cold|It is raining on me], {H}! [My home is full of water|The rain broke my home]!)",
                ],
            ),
            (
                100,
                &[
                    "(H: [Come with me|Do not cry|Follow me], {F}. [I know a dry place|There is a dry place|I saw a dry hole] <by> the {Q}.)",
                    "(H: [Take this leaf|Hold this leaf|Sit under this leaf], {F}. [We will find|I know|Let us look for] a dry place <by> the {Q}.)",
                ],
            ),
            (
                90,
                &[
                    "They [went|walked|hurried] [through the puddles|through the rain|under a big leaf], <past> the <place>[ and the <place>|].",
                    "[Step by step|Under a big leaf|Through the rain], they went to the {Q}[, <past> the <place>|].",
                ],
            ),
            (
                100,
                &[
                    "<by> the {Q}, it was [dry and warm|dry|warm and quiet], and {F} [stopped shaking|smiled|felt better|sat down].",
                    "There was [room for two|a dry corner|a soft dry bed] <by> the {Q}, [and|where] {F} [got warm again|fell asleep|could rest].",
                ],
            ),
            (
                70,
                &[
                    "They shared a {C} and [listened to the rain|told stories|waited for the sun|sang].",
                    "(H: [Are you warm now|Do you feel better|Would you like a {C}], {F}?) (F: [Yes, thank you|Oh yes|Much better].)",
                ],
            ),
            (
                90,
                &[
                    "[<soon>|In the evening|At last], the rain stopped and [the sun came out|a rainbow stood over the <place>|they saw a rainbow].",
                    "When the rain stopped, [they saw a rainbow|a rainbow stood] over the <place>.",
                ],
            ),
        ],
        morals: &[
            "[A friend|A kind heart|A good friend] is [better than a roof|the best roof|warm like the sun].",
            "{H} helped {F} to build a new home.",
        ],
    },
    Plot {
        name: "wish to see",
        topics: &["a wish", "a snail who [had a wish|wished to fly|wished to see the {Q}]"],
        gifts: [Some(Gift::Flies), None],
        theme: Theme::Place,
        mood: Mood::Dry,
        beats: &[
            (
                100,
                &[
                    "{H} had [one|a big|a secret] wish. {H.s} [wished|wanted] to [fly|fly like a bird|fly over the {Q}].",
                    "(H: I [wish|want] to fly! [Just once|Only one time|High up] over the {Q}!)",
                    "{H} [looked up at|watched] the birds and wished to fly [like them|too|over the {Q}].",
                ],
            ),
            (100, MEET),
            (
                100,
                &[
                    "(F: [What are you looking at|What do you wish for|Why do you look up], [<dear>|{H}]?) (H: I [wish I could fly|want to fly|would like to fly like you].)",
                    "(H: [How do you fly|Can I fly too|Can you teach me to fly], {F}?) (F: [You need wings|You have no wings|Snails cannot fly], [<dear>|{H}][. But wait|, but I can help|].)",
                ],
            ),
            (
                100,
                &[
                    "{H} [climbed|crawled] up a [flower|tall stone|high stem|bush] <by> the {Q} and [jumped|let go]. [Bump|Plop|Oh]! {H.s} [fell|landed] [in the soft grass|on a soft leaf|in the moss][ and laughed|].",
                    "{F} tried to lift {H}, but {H.s} was too heavy[. Plop|. Bump|]! They fell [in the soft grass|in the moss|into the clover] <by> the <place>[ and laughed|].",
                    "{F} [brought|found] a [big|light] leaf. {H} [sat on it|held on to it], and the wind [carried|lifted] {H.o} over the {Q}!",
                ],
            ),
            (
                70,
                &[
                    "{H} saw the whole garden, [the <place> and the <place>|from the <place> to the <place>].",
                    "From [there|the {Q}], {H} could see the <place> and the <place>.",
                ],
            ),
            (
                100,
                &[
                    "(H: [A snail is a snail|Now I know how it is|I like it here on the ground|It was fun to try], {F}.)",
                    "(F: [You are fine as you are|You can do other things|I cannot carry a house|I wish I had a shell like you], {H}.)",
                ],
            ),
            (80, THANKS),
        ],
        morals: &[
            "[Not every wish|A wish] [comes true|is for always][, and that is all right|], but [a friend can make you smile|it is good to try|it is good to dream].",
            "{H} was <happy> to be a snail.",
        ],
    },
    Plot {
        name: "stuck",
        topics: &["a {F.k} in the mud", "a snail who helped a {F.k}", "a {F.k} who was stuck"],
        gifts: [None, Some(Gift::Strong)],
        theme: Theme::Place,
        mood: Mood::Dry,
        beats: &[
            (
                100,
                &[
                    "(F: Help! [Help|Please help me|Somebody help me]!) {H} [heard a cry|stopped]. It was {F} the {F.k}, <by> the {Q}.",
                    "<by> the {Q}, {H} heard [a cry|a small voice]. It was {F} the {F.k}. (F: [Help|Please help me|Help me]!)",
                ],
            ),
            (
                100,
                &[
                    "{F} was stuck [in the mud|in a [deep|dark] hole|under a [heavy|big] branch|between two [big|heavy] stones] and [could not [move|get out]|was very <sad>].",
                    "{F.s} had [fallen into a [deep|dark] hole|slipped into the [wet|soft] mud|gone under a [heavy|big] branch] and [was stuck|could not get out].",
                ],
            ),
            (
                80,
                &[
                    "(H: [Wait|Do not be afraid|Hold on], {F}! I will [help you|pull you out|get you out]!)",
                    "{H} [pulled|pushed] and [pulled|pushed] [at a leaf|at a root|with {H.p} head|with {H.p} shell], but {F} did not move[. {H} was too small|. It was too hard|].",
                ],
            ),
            (
                70,
                &[
                    "{H} [called|shouted] as loud as {H.s} could. [Who would come|Would somebody hear|Was somebody near]?",
                    "(H: [I need a strong friend|We need help|I will find help].) {H} [looked around|called|went as fast as a snail can].",
                ],
            ),
            (
                100,
                &[
                    "[<soon>|Then] {G} the {G.k} {G.m} over from the <place>. (G: [I am strong|Let me help|I heard you|Hold my hand]!)",
                    "{G} the {G.k} [heard it|was near] and {G.m} [over|to the {Q}]. (G: [I am strong|Let me help|We can do it together]!)",
                ],
            ),
            (
                100,
                &[
                    "[One, two, three|Together|Side by side], {H} and {G} pulled[ as hard as they could| with a long root|]. Plop! {F} was free!",
                    "{H} [held|took] a [long root|strong stem], and {G} pulled. [Plop|Pop|At last]! {F} was free!",
                ],
            ),
            (
                100,
                &[
                    "(F: [Thank you|Oh, thank you], {H}! Thank you, {G}! [I was so afraid|You are true friends|I am so glad]!)",
                    "{F} hugged {H} and {G}. (F: [I will never forget it|You are true friends|What luck that you came]!)",
                ],
            ),
            (
                70,
                &[
                    "[Then|So] they washed {F} with [dew|water] and ate a {C} <by> the <place>.",
                    "They went to the <place> and [shared a {C}|sang a song|rested in the sun].",
                ],
            ),
        ],
        morals: &[
            "Together, [even small friends|the small] are strong.",
            "[Two|Three] friends can do what one cannot.",
        ],
    },
    Plot {
        name: "noise in the night",
        topics: &["a noise in the night", "the night", "a snail who was afraid[ of the dark|]"],
        gifts: [None, None],
        theme: Theme::Place,
        mood: Mood::Night,
        beats: &[
            (
                100,
                &[
                    "{H} [could not sleep|woke up|lay awake]. [There was|{H.s} heard] a [strange|loud|new|funny] noise <by> the {Q}.",
                    "[Tap, tap, tap|Boom, boom|Scratch, scratch|Squeak, squeak]! {H} heard a [strange|loud|new|funny] noise <by> the {Q}.",
                ],
            ),
            (
                100,
                &[
                    "(H: [What is that|Who is there|Is it a monster|Is somebody there]?) [Nobody answered|There was no answer|The noise went on].",
                    "{H} was afraid and [hid in {H.p} shell|closed {H.p} eyes|shook a little].",
                ],
            ),
            (90, MEET_G),
            (
                90,
                &[
                    "(H: Do you hear [it|the noise|that], {G}?) (G: [Yes|Oh yes|I do]. [Let us look together|We will go and see|I will come with you].)",
                    "(G: [I heard it too|I am afraid too|It may be a monster]. [Let us go together|We will go and look|Come, take my hand].)",
                ],
            ),
            (
                80,
                &[
                    "[Side by side|Together|Slowly], they [crept|went|walked] <past> the <place> to the {Q}.",
                    "They [crept|went|walked] [side by side|through the dark], <past> the <place>[ and the <place>|].",
                ],
            ),
            (
                100,
                &[
                    "[There|<by> the {Q}], they found [only |]{F} the {F.k}, who [was crying|could not sleep|was playing on a {O}|had a cold|was dancing].",
                    "It was [no monster|not a monster]! It was [only |]{F} the {F.k}, who [was crying|could not sleep|was playing on a {O}|had lost {F.p} {O}].",
                ],
            ),
            (
                100,
                &[
                    "(F: [Did I wake you|Was I too loud|Did I make you afraid|I am sorry. Did you hear me]?)",
                    "(F: [I am sorry|Oh, forgive me|Excuse me]. I [was alone|could not sleep|was afraid of the dark|did not want to wake you].)",
                ],
            ),
            (
                100,
                &[
                    "{H} laughed. (H: [We thought you were a monster|It is only you|You gave us a fright|Come and stay with us], {F}!)",
                    "(H: [Come and stay with us|Sit with us|Let us watch the stars|We will keep you company], {F}.)",
                ],
            ),
            (
                60,
                &[
                    "All three [sat|lay] <by> the <place> and [counted the stars|looked at the moon|told stories] [until they slept|for a long time|until morning].",
                    "They [counted the stars|looked at the moon|told stories] [together|until they slept|until morning].",
                ],
            ),
        ],
        morals: &[
            "[The dark|The night] is [not so dark|less dark|friendly] [with a friend|when you are not alone].",
            "{H} was not afraid of [noises|the dark] any more.",
        ],
    },
    Plot {
        name: "treasure",
        topics: &["a treasure", "a map", "a snail with a map"],
        gifts: [None, Some(Gift::Strong)],
        theme: Theme::Thing,
        mood: Mood::Dry,
        beats: &[
            (
                100,
                &[
                    "{H} found [an old|a small] map <by> the <place>. It showed the {Q} and a [red|big|blue] cross.",
                    "(H: Look, a map! [It shows|There is a cross <by>|The path goes to] the {Q}!)",
                ],
            ),
            (100, MEET),
            (
                100,
                &[
                    "(H: [There is a treasure|I have a map|I think there is a treasure], {F}! [Will you come|Come with me|Shall we look for it]?)",
                    "(F: [What do you have there|What is that|Is that a map]?) (H: A treasure map! [Will you come with me|Come with me|Let us find the treasure]!)",
                ],
            ),
            (
                90,
                &[
                    "Together they [went|walked] <past> the <place>, <past> the <place> and [at last |]to the {Q}.",
                    "They [went|walked] from the <place> to the <place>, and from there to the {Q}.",
                ],
            ),
            (
                100,
                &[
                    "There [was|lay] a [big|heavy|flat] stone, and they could not [lift|move] it. [But {G} the {G.k} was strong|<soon>, {G} the {G.k} came to help|{G} the {G.k} saw them and helped].",
                    "There they [dug|looked|dug and dug], but [found nothing|the earth was too hard]. [Then|<soon>,] {G} the {G.k} {G.m} over and [helped them|dug with them].",
                ],
            ),
            (
                100,
                &[
                    "[Under it|In the ground|Deep down] [was|they found] a [box|small box], and in [the box|it] was [only |]a {L} {O}.",
                    "[Under it|In the ground|Deep down] [was|lay|they found] a {L} {O} and [a letter|a {C}].",
                ],
            ),
            (
                90,
                &[
                    "(F: [Only a {O}|Is that all|What a lovely {O}]! [Still, it was fun|But we had fun|What a day]!)",
                    "(G: [What a fine {O}|Is that the treasure|How pretty it is]! [Who has it|Whose is it|Who put it there]?)",
                ],
            ),
            (
                90,
                &[
                    "(H: [We will share it|It is for all of us|It belongs to us all|The best treasure is a friend].)",
                    "{H} gave the {O} to [{F}|{G}], [who was so <happy>|who danced for joy|who had helped so well].",
                ],
            ),
        ],
        morals: &[
            "[The way|A good friend] was the [best|real|true] treasure.",
            "They [kept|hid] the map [for another day|in a hollow root|in a safe place].",
        ],
    },
    Plot {
        name: "lost child",
        topics: &["a lost {F.k}", "a little {F.k}", "a snail and a lost {F.k}"],
        gifts: [None, None],
        theme: Theme::Place,
        mood: Mood::Dry,
        beats: &[
            (
                100,
                &[
                    "<by> the {P}, {H} [heard|found] a [little|tiny|very small] {F.k}, who was [crying|lost|all alone].",
                    "A [little|tiny|very small] {F.k} sat <by> the {P} and [cried|looked <sad>|was lost].",
                ],
            ),
            (
                100,
                &[
                    "(H: [What is your name|Why do you cry|Are you lost], [little one|little {F.k}]?) (F: I am {F}. I [want my mother|am lost|cannot find my mother|want to go home].)",
                    "(F: I am {F}, and I [want my mother|am lost|cannot find my mother|want to go home]!)",
                ],
            ),
            (
                100,
                &[
                    "(H: Where do you live?) (F: [My home is|I live|We live] <by> the {Q}[, but it is so far|, but I do not know the way|].)",
                    "(H: [Do not cry|Be brave|Dry your eyes], {F}. Where [is your home|do you live]?) (F: <by> the {Q}.)",
                ],
            ),
            (
                80,
                &[
                    "(H: [I know the way|I am slow, but I know the way|I have been there]. [Come|Climb on my shell|Follow my silver path].)",
                    "{H} [knew the way|had been there]. {F} [sat on {H.p} shell|climbed on {H.p} shell|held on to {H.o}], and they [went|set off].",
                ],
            ),
            (
                100,
                &[
                    "They [went|passed] [by|around|behind] the <place> and the <place>, and {H} [sang|told a story|hummed a tune|smiled].",
                    "It was a long way, <past> the <place> and <past> the <place>. {H} [sang|told a story|hummed a tune].",
                ],
            ),
            (
                50,
                &[
                    "<by> the <place>, they asked {G} the {G.k}. (G: [Go on|Just go on|It is not far now|You are right]. [The {Q} is near|I saw the mother there].)",
                    "(F: [Is it far|Are we there|How far is it]?) (H: [Not far|Only a little way|We are almost there], [little one|{F}].)",
                ],
            ),
            (
                100,
                &[
                    "[There|<by> the {Q}] [was|stood|waited] the mother! (F: [Mother|Mama]! [I am here|Here I am|{H} brought me home]!)",
                    "[<soon>|At the {Q}], the mother [ran to them|called|came out]. [She|The mother] [hugged|kissed] {F} [again and again|and cried for joy].",
                ],
            ),
            (
                90,
                &[
                    "The mother [thanked|kissed] {H} and gave {H.o} a [ripe|fresh|sweet|juicy] {C}.",
                    "{F} [waved|smiled] and the mother gave {H} a [ripe|fresh|sweet|juicy] {C}.",
                ],
            ),
        ],
        morals: &[
            "[Home|The best place] is where [your mother is|you are loved].",
            "[A slow friend|A slow snail] can [bring you home|show the way] too.",
        ],
    },
    Plot {
        name: "sick friend",
        topics: &["a sick {F.k}", "a {F.k} with a cold", "a sick friend"],
        gifts: [None, None],
        theme: Theme::Food,
        mood: Mood::Dry,
        beats: &[
            (
                100,
                &[
                    "{F} the {F.k} was [sick|ill|in bed] and [could not play|had a cold|had a sore throat|lay in bed].",
                    "{H} [waited for|missed] {F} the {F.k}, but {F} was [sick|ill] and [could not play|had a cold|lay in bed].",
                ],
            ),
            (70, MEET_G),
            (
                90,
                &[
                    "(H: [Poor {F}|How sad]! [What can I do|I will bring {F.o} something|I must help {F.o}].)",
                    "(G: [{F} needs something good to eat|Bring {F.o} a {C}|A {C} might help|{F} would like a {C}].)",
                ],
            ),
            (
                100,
                &[
                    "{H} [found|picked|got] a [ripe|fresh|sweet|juicy] {C} <by> the <place>[ and made soup|].",
                    "{H} looked <by> the <place> and found a [ripe|fresh|sweet|juicy] {C}.",
                ],
            ),
            (
                100,
                &[
                    "[So |<soon>, ]{H} [took|carried|brought] it <past> the <place> to the {Q}, where {F} lived.",
                    "{F} lived <by> the {Q}, and {H} [took|carried|brought] it [there|all the way], <past> the <place>.",
                ],
            ),
            (
                100,
                &[
                    "(H: [How are you|Are you better|How do you feel], {F}? I [brought you|have] a [fresh |sweet |]{C}.)",
                    "(H: Hello, {F}! [This {C} is for you|Look, a {C}|I have a {C} for you].)",
                ],
            ),
            (
                100,
                &[
                    "(F: [You came all this way|You came|How kind you are], {H}! [I feel better already|Thank you|I was so bored].)",
                    "{F} ate [it all|every bit|the {C}] and [smiled|laughed|felt better|slept well].",
                ],
            ),
            (
                90,
                &[
                    "{H} [told stories|sang a song|stayed] [until {F} slept|until evening|all day].",
                    "{H} stayed and [told stories|sang|read a book] until {F} [slept|felt better|laughed].",
                ],
            ),
            (
                80,
                &[
                    "[The next day|In the morning|Two days later|<soon>], {F} was well [again|and {F.m} around the garden].",
                    "[The next day|In the morning|Two days later|<soon>], they played <by> the <place> [again|together].",
                ],
            ),
        ],
        morals: &[
            "[A visit|A kind friend|Love] is the best [medicine|soup].",
            "{F} never forgot [that day|the {C}|this].",
        ],
    },
    Plot {
        name: "own shell",
        topics: &["a snail's shell", "a snail who wanted [a new shell|to be {L}]", "a {L} shell"],
        gifts: [Some(Gift::Flies), None],
        theme: Theme::Place,
        mood: Mood::Dry,
        beats: &[
            (
                100,
                &[
                    "{H} did not like {H.p} shell[ any more|]. (H: [It is so plain|It is so heavy|I want a new one|I want something {L}]!)",
                    "{H} looked into the [water|puddle] and [did not like {H.p} shell|was not happy with {H.p} shell|wished for a {L} shell].",
                ],
            ),
            (100, MEET),
            (
                100,
                &[
                    "(H: [How fine you look|You are so pretty|You have such lovely colours], {F}! I want to be like you.)",
                    "(F: What is wrong with your shell, [<dear>|{H}]?) (H: [It is just plain|It is so plain|Everyone looks better].)",
                ],
            ),
            (
                100,
                &[
                    "[So |]{H} tried [a {L} hat|a flower pot|an old cup|a nut|a box]. It was [too big|too small|too hot|too heavy].",
                    "{H} [painted {H.p} shell [red|blue|yellow|green|white|purple]|put [white|blue|yellow|wild] flowers on {H.p} shell|put [leaves|roses|moss|daisies|clover] on {H.p} shell] <by> the <place>, but [the dew washed it off|the wind took it all|it all fell off].",
                ],
            ),
            (
                80,
                &[
                    "[<soon>, |]a [big|heavy|ripe|hard] [pear|apple|nut|stone] fell <by> the <place>. {H} hid in {H.p} [<shell> |]shell and was [safe|not hurt].",
                    "[<soon>, |]a [cold|strong|wild] wind came over the <place>, and [everyone|all the animals|{F}] [shook|ran home]. [But |]{H} was [warm|safe] in {H.p} [<shell> |]shell.",
                ],
            ),
            (
                100,
                &[
                    "(F: [You are lucky|How good|I wish I had a shell], {H}! [Your house is always with you|You are always at home|I have no shell].)",
                    "(F: Your shell is [strong|a good house|fine as it is|better than colours], {H}.)",
                ],
            ),
            (
                90,
                &[
                    "(H: [You are right|That is true|Yes], {F}. [It is a good shell|I like my shell|It is just right for me].)",
                    "{H} [smiled|laughed] and [washed|rubbed] {H.p} shell [until it shone|with dew|with a leaf].",
                ],
            ),
            (50, WALK),
            (60, THANKS),
        ],
        morals: &[
            "{H} [loved|liked] {H.p} shell [from then on|just as it was].",
            "[Your own house|Your own shell|What you have] is [often |]the best.",
        ],
    },
];
