"""English."""

from evals.text.refusals.lexicon import Language

ENGLISH = Language(
    code="en",
    function="""
        a about above according across after again against all almost along already also although always am
        among an and any anywhere are around as at away based be because been before behind being below
        between both but by could did do does doing done down during each either even ever every for from
        further get given had has have having he her here hers him his how however i if in instead into is it
        its itself just like made make many may me might mine more most much must my myself near neither next
        no nor not now of off often on once one only onto or other our ours out over own per please quite
        rather really regarding relating s she should since so some something still such supplied than that
        the their them then there therefore these they thing things this those though through thus to together
        too towards under until up upon us very via was we well were what when where whether which while who
        whom whose why will with within without would yet you your yours afraid concerning currently provided
        retrieved available anything everything someone actually simply specifically clearly mentioned
        specific particular exact certain comparable similar far word words equivalent corresponding
    """,
    words={
        "without": "without",
        "not": "not never nor neither cannot nowhere hardly",
        "none": "no nothing none nobody zero 0",
        "text": """
            context contexts document documents documentation passage passages source sources text texts
            excerpt excerpts extract extracts snippet snippets chunk chunks
        """,
        "source": """
            manual manuals page pages file files guide guides guideline guidelines leaflet leaflets
            brochure datasheet sheet report reports readme handbook chapter chapters paragraph
            paragraphs narrative transcript minutes section sections appendix faq entry entries story
            novel book letter speech summary notes corpus database index paper study biography review
            reviews website site workspace dataset content contents catalogue post input prompt
            literature record records chronicle collection library archive base results search data
            information listing table abstract interview label recipe description specification
            specifications brief memo newsletter will figures chart diagram bulletin press release
            overview knowledge material materials article articles flyer logbook profile text list
            catalog programme program timetable schedule datasheets menu menus map maps form forms
            contract handout changelog statement statements brochures note monograph diary diaries
            ledger register memos inventory sheets tables video podcast broadcast slide slides
            presentation retrieval conversation thread certificate invoice invoices receipt receipts
            directory factsheet monographs periodical issue edition obituary blog wiki advert
            advertisement ad prospectus syllabus catalogues calendar tutorial transcripts reference
            references writeup postmortem mortems appendices annex footnote footnotes caption captions
            screenshot screenshots invitation letters details announcement announcements poster posters
            plan plans spec specs worksheet worksheets bill bills log logs memoir memoirs testimony
            testimonies instructions tender quote quotes email emails regulations agenda
        """,
        "contract": """
            policy policies contract contracts agreement agreements insurance warranty guarantee lease
            license plan licence law laws act rules regulations statute clause tariff terms subscription
            bylaws charter
        """,
        "told": """
            information info detail details mention mentions reference references answer answers
            indication explanation description guidance hint hints clue clues specifics
            explanations instructions insight insights knowledge confirmation coverage idea
            clarity conclusion conclusions word words statement statements basis
        """,
        "data": """
            data evidence result results match matches hit hits records record documents document passages
            sources chunks entries entry context documentation material articles figure figures
            recommendations statement content
        """,
        "say": """
            say says state states mention mentions specify specifies describe describes explain explains
            address addresses discuss discusses refer refers indicate indicates tell tells touch touches
            clarify clarifies elaborate elaborates detail disclose discloses reveal reveals identify
            identifies name names go goes speak talk confirm confirms note comment answer answers allude
            spell define defines shed quote cite cites report reports record document outline outlines
            cover covers deal deals tackle naming mentioning stating saying specifying providing giving
            credit credits list lists publish publishes announce announces alludes comments break breaks
            narrow narrows bear bears quantify quantifies pinpoint assign assigns attribute attributes
            commit commits suggest rule settle settles resolve resolves establish establishes dwell
            dwells expand expands teach teaches records pins pin present presents provide provides weigh
            commenting includes declare declares register registers
        """,
        "tell_of": """
            mention mentions describe describes discuss discusses cover covers list lists talk
            talks deal deals contain contains include includes focus focuses hint hints refer
            refers explain explains concern concerns outline outlines stop stops stopped end ends
            ended break breaks cut truncated incomplete limited only date dates dated announce
            announces compare compares present presents written summarise summarises summarize
            summarizes report reports address addresses cease ceases published address merely
            solely exclusively give gives
        """,
        "hold": """
            contain contains include includes provide provides give gives cover covers offer offers list
            lists show shows extend extends hold holds report reports make makes present supply carry
            carries bear
        """,
        "said": """
            mentioned stated specified named described explained discussed addressed indicated
            documented detailed disclosed touched spelled spelt clarified elaborated told given provided
            listed cited outlined noted credited quantified broken attributed printed gathered gleaned
            clear filled legible readable answered transcribed explicit recorded
            declared defined resolved known covered set captured logged tabulated
        """,
        "held": """
            included covered found contained recorded reported revealed matched answered
            retrieved supplied returned located presented identified part among
        """,
        "find": """
            find locate determine determined answer know see identify establish established infer
            inferred deduce deduced work verify derive derived ascertain ascertained conclude tell
            say judge confirm assess extract answered resolve found seen located answering
            pinpoint gather glean pin specify state figure confirmed told said known retrieve name
            compute calculate compare trace spot discern settle decide recommend predict summarise
            summarize list read point share calculated computed compared retrieved gathered traced
            discovered settled decided made out
        """,
        "help": """
            help assist discuss comment speculate guess share provide give offer respond advise complete
            fulfil fulfill process
        """,
        "have": "have has had got see saw find found",
        "me": "i me",
        "us": "we",
        "can": "can could able possible may might would",
        "unable": "unable impossible",
        "unknown": """
            unknown unclear uncertain undetermined unaware unsure unanswered unanswerable unavailable
            insufficient inadequate unexplained
        """,
        "sure": "sure certain certainty aware clear known",
        "there": "there here",
        "question": "question questions query request answering",
        "who": "who whose whom what which when where why how whether if",
        "it": "it this that these they those them",
        "be": "is are was were be been being am remains remain go goes went",
        "lack": """
            lack lacks lacking absent missing silent omits omit omitted blank omission silence
            irrelevant unrelated mute withholds skips skip unmentioned incomplete
        """,
        "appear": "appear appears come comes feature features shows",
        "unsaid": """
            unspecified unstated undisclosed unmentioned unlisted unnamed unaddressed unreported
            undated uncredited undocumented unrecorded unsourced unlabelled unmarked unprinted
            unanswered unsaid
        """,
        "defined": "defined expanded",
        "more": """
            more else further additional other another exact exactly precise precisely full complete
            definitive official explicit explicitly directly beyond verify verified confirm confirmation
            outright
        """,
        "enough": "enough sufficient relevant any adequate suitable specific available present confirmed shown",
        "this": "this that",
        "my": "my our",
        "outside": "outside beyond exceeds",
        "from": "in from on within by based given of per using among amongst",
        "that": "that",
        "part": "part",
        "about": "about on into regarding concerning as relating",
        "does": "do does",
    },
    rules=(
        "c~5 n~3 h",
        "b~2 n~2 g",
        "H~1 n~1 b~1 g",
        "^ .PVUY~2 _~3 h~2 k~1 a",
        "_ V n t",
        "j~5 n~4 fhtoH",
        "j~3 b~2 n~2 X",
        "j~1 b~2 x",
        "j~3 u~2 foh",
        "j~3 fH~1 k~2 aA",
    ),
    but=(r"but|yet",),
    however=(r"however|though|nevertheless|nonetheless|still|instead",),
    hence=(r"hence no|which is why|and so|so|thus|therefore|hence",),
    although=(r"although|(?<!as )though|even though|even if|while|whilst|despite the fact that",),
    relative=(r"which|that|who|as",),
    openers=(
        r"(?:honestly|frankly|to be honest|to be fair|in truth|as far as i can (?:see|tell)|from what i can (?:see|"
        r"tell)|regrettably|sadly)\b\W*",
        r"i (?:regret|have|am sorry|'m sorry) to (?:inform|tell|say) (?:you )?that ",
        r"\W*(?:therefore|thus|hence|consequently|additionally|however|moreover|furthermore|as a result|overall|"
        r"in summary|in short|unfortunately|regrettably|sorry|alas|well|hmm|so|then|answer|i'm sorry|i am sorry|"
        r"i'm afraid|i am afraid|i apologi[sz]e|apologies)\b(?: to \w+(?: you)?)?\W{1,3}(?:but |that )?",
        r"(?:based (?:solely |only )?on|according to|given|from|in|per|with|after) [^,]{0,60}\b(?:context|"
        r"documents?|documentation|passages?|sources?|texts?|information|materials?|excerpts?|articles?|data|"
        r"results?|knowledge base)\b[^,]{0,60}, ?",
    ),
    referrals=(
        r"\b(?:office|department|team|desk|manager|channel|hotline|helpline|archive|library|helpdesk|forum|"
        r"authority|society|support|website|page|adviser|advisor|lawyer|doctor|pharmacist)\b.{0,60}\b(?:would|"
        r"should|may|might|could|can|will|be able)\b",
        r"\byou (?:can|could|may|might|will|should|would) (?:\w+ )?(?:try|check|contact|ask|call|look|consult|visit|"
        r"reach|write|send|upload|also|want|ring|phone|search|raise|rephrase|turn)\b",
        r"^(?:if|should) you\b|^(?:you )?alternatively\b|^(?:that is|it is|this is) (?:an? )?(?:interesting|good|"
        r"great|fair)\b|\bwould be (?:happy|glad|the|a|my|worth)\b|\byour (?:account|local|landlord|doctor|employer|"
        r"bank)\b.{0,60}\b(?:should|can|may|will|could)\b|^could it be\b|^(?:call|ring|phone|ask|email|write to)\b",
    ),
    courtesy=(
        r"^i appreciate\b",
        r"^(?:that is|it is|this is|what) (?:an? )?(?:very )?(?:interesting|good|great|fair|important)\b|"
        r"^(?:i (?:can )?(?:see|understand) (?:that|why)|welcome|hi|hello|good (?:morning|afternoon))\b",
        r"^(?:please|kindly|sorry|thanks|thank you|apologies|hmm|summary|result|answer|note|contact|consult|"
        r"check|try|refer to|feel free|let me know|hopefully)\b",
        r"\b(?:happy|glad) to (?:help|assist|look|try|answer|summari[sz]e|take)\b|\banything else\b|\b(?:i|"
        r"we) apologi[sz]e\b|\bbest person\b",
        r"\b(?:you|i'd|i would|i) (?:(?:may|might|could|can|should|need to|'ll need to) )?(?:also )?(?:want to|"
        r"wish to|like to|recommend|suggest|try|consult|check|contact|ask|reach out|look(?:ing)? (?:at|in|it)|"
        r"refer|visit|verify|speak)\b",
        r"^i(?: have| had)?(?: also| carefully| thoroughly)? (?:understand|looked|searched|checked|wish|reviewed|"
        r"read|regret|went|gone|hope|examined|scanned)\b",
        r"^to (?:give you|answer|help)\b|^without (?:these|this|them|more|further|additional)\b|"
        r"\bin order to (?:find|answer)\b",
        r"\bif you (?:can|could|have|need|would|want|'d|share|provide|tell|give|upload)\b",
    ),
    guesses=(
        r"\b(?:suggest\w*|impl(?:y|ies|ied)|seems?|appears?|likely|probably|possibly|presumably|roughly|"
        r"approximately|(?:would|should|must) be(?! (?:required|needed|necessary|happy|glad|best|helpful|"
        r"able)\b)|estimated?|points? to|guess|usually|typical\w*|general knowledge|generally|in all likelihood|"
        r"can be inferred|assume|believe|think|most common|reading|both use)\b",
    ),
    maybe=(
        r"\b(?:elsewhere|(?:an)?other (?:document|source|place|page|file)s?)\b|^(?:it|he|she|they|that|"
        r"this) (?:may|might|could)(?: well)? be$|^(?:it is|it's|it may be|that is|that's) possible\b|"
        r"^(?:perhaps|maybe)\b",
    ),
    reports=(
        r"\b(?:concedes?|admits?|admitted|acknowledged?|said|says?|saying|wrote|writes|complain\w*|argue[sd]?|"
        r"repl(?:y|ies|ied)|claim\w*|answered that|respond\w* that|told|conclud\w*|ruled|believed|found that|"
        r"decided|must|should|means?|that it|because|if|tells? (?:the|you)|(?<!^)when|whenever|criticis\w*|"
        r"states that|stated that|he|she|returns?|"
        r"error)\b|\b(?:user|customer|visitors?|staff|support|agents?|reviewers?)(?: \w+){0,2}$",
    ),
    reasons=(r"because|since|as",),
    apart=(
        r"without (?:\w+ly )?(?:saying|stating|giving|naming|mentioning|specifying|explaining|providing|indicating|"
        r"telling|identifying|describing|going|listing|stopping)|leaving (?!on|for)",
    ),
    conditions=(r"when|where|if|unless|in case|should",),
    because=(r"because",),
    hints="""
        only just trained designed merely all too need require requires guess guessing guessed speculate
        speculating speculation goes beyond open blank dark cut missing torn redacted illegible
        unreadable truncated empty dunno idk beats clue short decline hard difficult tricky tough leave
        leaves leaving left stops stop unmentioned unsaid unanswered unexplained ends end breaks dates
    """,
    declines=(
        r"\b(?:my|i have|i was given|available to me|at my disposal)\b.{0,40}\b(?:ends?|stops?|breaks? off|"
        r"cuts? off|dates? from)\b",
        r"\bnot (?:have |seem to have )?(?:made|make|found its way) (?:it )?into\b|\bno (?:\w+ ){0,4}in what (?:i|"
        r"was|has|you)\b",
        r"\b(?:it|they) (?:does|do|did) not (?:say|tell|mention|state|specify|give)\b",
        r"\bnot enough (?:here|in|to|there|for)\b|\bin the dark\b|\bcame (?:away|back|up) with (?:none|nothing)\b|"
        r"\b(?:have|has) yet to be (?:mentioned|given|named|stated|announced|published)\b|\b(?:has|"
        r"have) not been (?:uploaded|provided|shared|given|supplied|indexed|included|retrieved)\b|"
        r"\bnothing to offer\b",
        r"\b(?:i|we) (?:only|just|merely) (?:have|see|know|hold|got|cover)\b|\b(?:i|we) (?:have|see|know) (?:only|"
        r"just|nothing but)\b|\ball (?:i|we) (?:have|know|can see)\b",
        r"\b(?:would|d) (?:need|have to (?:see|know|have|consult)|require)\b.{0,80}\b(?:to|for (?:that|"
        r"this))\b(?!.{0,40}\b(?:apply|register|enter)\b)|^to (?:answer|say|tell|give|determine)\b.{0,60}\b(?:need|"
        r"require)\w*\b",
        r"\b(?:i|we) (?:do not|can not|am not|are not|have not|could not|was not|were not|"
        r"may not)\b.{0,30}\b(?:allowed|permitted|authori[sz]ed|qualified|licensed|entitled|position|access|able|"
        r"advi[sc]e|opinions?|lawyer|doctor|guess)\b",
        r"\b(?:is|are|was|were|goes?|went|remains?|stays?|left|be) (?:not (?:anywhere|to be found)|nowhere|"
        r"unmentioned|unsaid|unanswered|anyone  guess)\b",
        r"\bnot (?:something|information|a (?:topic|question|detail|figure|point|fact)|anything) (?:that )?(?:i|it|"
        r"we|they|the|these|this|my)\b",
        r"\bno (?:mention|word|clue|hint|indication|statement) (?:is |was |of|on|about|as to|regarding|whatsoever|"
        r"anywhere|there)\b.{0,80}(?:\b(?:made|given|found|anywhere|there|here)\b|$)",
        r"^(?:the |this |that |your )?(?:question|request|topic|subject|matter|query)\b.{0,60}\b(?:outside|beyond|"
        r"falls? outside|not (?:one|something))\b",
        r"\b(?:one|anyone) (?:can|could) only (?:guess|speculate)\b|\b(?:draw|drew|drawn|came up|come up|"
        r"coming up) (?:a )?(?:blank|empty)\b|\bturned (?:up )?nothing\b|\bnothing (?:came|turned|comes) (?:up|"
        r"back)\b",
        r"\b(?:returned|yielded|gave|produced|brought|turned up|came back with) (?:an? (?:empty|blank)|no|zero|"
        r"nothing)\b",
        r"\b(?:is|are|has been|have been|was|were) (?:cut off|missing|torn|blacked out|redacted|illegible|"
        r"unreadable|truncated|left blank|blank|empty)\b.{0,60}\b(?:before|where|right)\b",
        r"\b(?:system|model|assistant|chatbot|bot|ai|tool) (?:can not|could not|is (?:unable|not able) to) "
        r"(?:answer|determine)\b",
        r"\btoo (?:vague|brief|short|unclear|limited|general|fragmentary) to\b|\bwould (?:only |just |"
        r"merely )?be (?:guessing|speculat\w+)\b",
        r"\b(?:only|just) (?:able|trained|designed|here) to (?:help|answer|assist)\b|\bbeats me\b",
        r"\bnot allow (?:for )?(?:any |a |firm |us to )*(?:conclusions?|inferences?|draw)\b",
        r"^only\b.{0,80}\b(?:described|listed|mentioned|covered|included|given|documented) in\b",
        r"\b(?:hard|difficult|tricky|tough) to (?:say|tell|know|determine|answer)\b",
        r"\b(?:no (?:idea|clue)|dunno|idk|came up (?:empty|short)|nothing to offer|(?:must|have to) decline|"
        r"(?:summary|answer|response) could not be (?:generated|produced|created)|left out of|leav(?:e|es|"
        r"ing)\b.{0,60}\bout|"
        r"stops? short of|not one of|neither confirm nor deny|no way (?:of (?:knowing|telling)|to (?:know|tell|"
        r"determine|"
        r"say|check)))\b",
        r"\b(?:i|we) would need\b.{0,200}\bto (?:answer|say|help|tell|determine)\b",
        r"\b(?:i|we) (?:can|may) only (?:answer|help|assist|discuss)\b",
        r"\bgoes beyond (?:what|the)\b|\b(?:outside|beyond) (?:of )?(?:my|the) (?:\w+ )?(?:scope|knowledge|"
        r"sources|documents|information)\b",
        r"\b(?:leaves?|left|goes)\b.{0,30}\b(?:unanswered|open|unclear|blank|unstated|unmentioned|unspecified|"
        r"unexplained)\b",
        r"\bnothing (?:in|about|on|from) (?:it|them|the|these|this|that)\b|^nothing (?:for|on|about|regarding)\b|"
        r"\bnothing\b[^.]{0,200} (?:indicates?|says?|mentions?|suggests?)\b",
        r"^(?:(?:no|0|zero) (?:\w+ )?(?:results?|matches|hits?|documents?|passages?|chunks?|sources?|articles?|"
        r"entries)|none|nothing)(?: \w+)?(?: is| are| was| were)? (?:found|retrieved|returned|available|known|"
        r"matched)\b",
        r"\bnot one of\b|\bno access to (?:\w+ ){0,2}(?:information|data|documents?|this|that)\b",
        r"\b(?:nobody|no one) is (?:named|mentioned|identified|listed)\b",
    ),
    bare=(
        r"(?:in|un|non)\w*(?:determin(?:ed|able|ate)|know(?:n|able)|answer(?:ed|able)|clear|certain|specified|"
        r"stated|available|disclosed|listed|mentioned|documented|recorded|retrievable)|no (?:mention|details?|"
        r"match(?:es)?|record|indication|reference|clue|idea|hits?)(?: \w+){0,6}|nothing (?:found|there|relevant)|"
        r"(?:i )?could not say|(?:cannot|can not|can't) (?:be (?:determined|answered|established|found)|say|tell|"
        r"determine|answer)|no comment",
        r"not (?:available|found|specified|stated|mentioned|provided|given|known|listed|disclosed|sure|applicable)|"
        r"(?:information|data|answer) not (?:available|found)|no (?:information|data|answer|results?)",
    ),
    quantity=(
        r"\bhow (?:many|much)\b",
        r"\bwhat (?:is|was) the (?:number|price|cost|fee|salary|age|height|weight|population)\b",
    ),
    numbers="""
        one two three four five six seven eight nine ten eleven twelve dozen hundred thousand million half
        none free nothing
    """,
    doers="""
        winner author owner founder architect composer inventor director creator leader painter
        designer translator builder successor victor holder culprit
    """,
    asked={
        r"\bwhen\b": "date year month day time schedule timetable",
        r"\bhow long\b": "duration period length time",
        r"\bhow (?:much|many)\b": "price cost amount fee number count figure total toll sum height weight length",
        r"\bhow old\b": "age date year",
        r"\bhow (?:tall|high|big|large|wide|deep|far|fast|heavy|often)\b": (
            "height size area width depth distance speed weight frequency"
        ),
        r"\bwhom?(?:se)?\b": "name person identity DOERS",
        r"\bw[io]n[s]?\b": "winner victor champion",
        r"\bwhere\b": "location place site address",
        r"\bwhy\b": "reason cause motive explanation",
        r"\bhow (?:do|does|can|to|is|are)\b": "step method procedure instruction",
    },
)
