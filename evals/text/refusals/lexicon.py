"""The signs (`signs`) of French, Spanish, Italian and Portuguese."""

from collections.abc import Mapping
from dataclasses import dataclass, field

# What the detector knows of a language: its words by the part they play, and a few idioms.


ROLES: Mapping[str, str] = {
    "not": "n",
    "none": "k",
    "text": "sS",
    "source": "s",
    "contract": "c",
    "told": "a",
    "data": "A",
    "say": "t",
    "tell_of": "B",
    "hold": "h",
    "said": "p",
    "held": "g",
    "find": "f",
    "find_myself": "F",
    "help": "o",
    "have": "H",
    "have_myself": "G",
    "me": "i",
    "us": "j",
    "can": "m",
    "unable": "u",
    "unknown": "x",
    "sure": "X",
    "there": "e",
    "question": "q",
    "who": "w",
    "it": "d",
    "be": "b",
    "lack": "l",
    "appear": "v",
    "unsaid": "N",
    "defined": "D",
    "more": "+",
    "enough": "r",
    "this": "T",
    "my": "y",
    "outside": "O",
    "from": "P",
    "that": "U",
    "part": "R",
    "about": "Y",
    "does": "V",
    "without": "W",
    "asked": "Q",
}
"""The letter of each part, of which the rules of the grammar are made. What was "asked" is told by the question."""


@dataclass(frozen=True, slots=True)
class Language:
    """A language.

    Attributes:
        code: By ISO 639-1.
        function: Words that say nothing about what is spoken of, separated by white space.
        words: By part, separated by blanks, folded and without accents; "mention*" stands for all words that begin so.
            A word may play several parts.
        declines: Idioms that decline by themselves, as patterns of a folded clause.
        hints: Words of which one is in every idiom that holds no word of denying: only there idioms are looked for.
        but: Conjunctions that part clauses, as patterns.
        however: Adverbs that do so behind a comma, as patterns.
        hence: What draws a conclusion behind a comma, as patterns.
        courtesy: Offers, advice and thanks, as patterns.
        referrals: What behind words that decline only points elsewhere ("your doctor can tell you"), as patterns.
        openers: What may begin a sentence without changing what it says, as patterns.
        although: Conjunctions that begin a concession ("although"), as patterns.
        guesses: Marks of a guess or a conclusion, as patterns.
        maybe: Marks of a mere possibility, as patterns.
        reasons: Conjunctions that begin a reason ("because the page is missing, …"), as patterns.
        conditions: What begins a condition that comes first ("if no file is found, …"), as patterns.
        because: What begins a reason behind what it is the reason for, as patterns.
        apart: What begins a clause of its own without a mark before it ("without naming the winner"), as patterns.
        reports: Marks that somebody else is said to decline, or a condition, as patterns.
        rules: Of the grammar, for this language only.
        bare: Whole answers that decline in a word or two, as patterns.
        quantity: Questions that only a number answers, as patterns.
        numbers: Words for numbers, separated by blanks.
        doers: The beginnings of nouns for him who did something: "winner", "author".
        asked: What a question asks for, by its pattern: the beginnings of nouns for it; "DOERS" stands for those.
    """

    code: str
    function: str
    words: Mapping[str, str]
    declines: tuple[str, ...] = ()
    hints: str = ""
    but: tuple[str, ...] = ()
    however: tuple[str, ...] = ()
    hence: tuple[str, ...] = ()
    courtesy: tuple[str, ...] = ()
    referrals: tuple[str, ...] = ()
    openers: tuple[str, ...] = ()
    although: tuple[str, ...] = ()
    guesses: tuple[str, ...] = ()
    maybe: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    because: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    reports: tuple[str, ...] = ()
    bare: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    unknowns: tuple[str, ...] = ()
    relative: tuple[str, ...] = ()
    quantity: tuple[str, ...] = ()
    numbers: str = ""
    doers: str = ""
    asked: Mapping[str, str] = field(default_factory=dict)


# What French, Spanish, Italian and Portuguese share: the order of words where they decline.


ROMANCE = (
    "n~2 t",  # no dice, n'indique pas
    "n~2 iFG",  # no encuentro, non ho, il ne m'est pas
    "n~2 j~3 fo",
    "n~2 jG~3 k~2 aA",
    "n b~2 m~3 f",  # no es posible saber
    "n~1 m~1 p",
    "n~1 m~1 b~1 fp",
    "b~1 u~2 f",  # es imposible decir
    "n~2 b~1 p",
    "n~1 h~4 a",  # no ofrece información
    "n~2 h~3 kA",
    "n~3 b~2 h~3 kaA",
    "n~3 b~2 g~4 kaAs",
    "n~1 e~3 aA",  # no hay información
    "s~4 n~1 e",
    "s~6 n~2 g",
    "k~1 aA~2 n",  # nessuna informazione non …
    "^ k~1 aA",
    "aA~6 n~1 b~1 g",
    "^ l .",
    "Q~2 l",
    "k P~3 t",
    "n~1 b~1 P~2 s",  # no esta en el manual
    "n~1 e~1 P~2 s",
    "a~1 n~1 e",
    "s~6 b~1 l",
    "^ w~9 ,~1 s~4 n~2 t",
)
"""Rules of the grammar."""


FRENCH: Mapping[str, str] = {
    "only": "seulement uniquement seul seule seuls seules simplement exclusivement juste qu que guere",
    "limit": """
        arrete arretent s interrompt interrompent limite* limitent termine* couvre couvrent jusqu jusque remonte* date
        datent fin finit finissent derniere* dernier* anterieur* ancien* periode va vont borne* coupe saute passe
        traite traitent porte portent concerne* cantonne*
    """,
    "unreadable": """
        illisible* efface* masque* caviarde* rature* tronque* biffe* tache* dechire* flou* brouill* decoupe* abime*
        vide* vierge* blanc scan scanne* numeris* cache* barre* endommage* manqu* cochee recouvert* noirci* gomme*
        corromp* incomplet* delave* amput* rogne* griffon* gribouill* crayon* insuffisant* surcharge*
    """,
    "given": """
        fourni* joint* recupere* transmis* communique* charge* verse* confie* disposition dispose indexe* televerse*
        recu* remis* remonte* main disponible* sous yeux partage* importe* ici accessible* consulte* retenu*
    """,
    "elsewhere": "renvoie renvoient renvoi renvoye* voir annexe annexes reporte* refere* consulter complement*",
    "contact": """
        contacte* adress* appele* renseign* rapproche* service secretariat mairie medecin pharmacien* avocat*
        conseiller* notaire expert accueil demande* ecrivez telephon* consulte* tournez professionnel* standard
        guichet gestionnaire veterinaire interrogez parlez verifiez infirmier* sage
    """,
    "differ": """
        contredis* diverg* contradict* desaccord* differ* ambigu* plusieurs versions incoheren* deux selon partage*
    """,
    "pass": """
        abstien* abstenir prefere preferer refuse garder garde m avancer prononcer engager risquer passe regrette
        prudent* hasarder eviter hesite tairai seche ignore colle
    """,
    "guesswork": """
        specul* suppos* devin* hypothe* conject* imagin* invent* extrapol* dedui* deduction* pari hasard boule
        pifometre interpret*
    """,
    "perhaps": """
        peut etre probabl* vraisemblabl* sans doute possibl* semble semblent semblerait pourrait pourraient laisse*
        suggere* difficile delicat* certain certaine certitude certitudes sur formel* formellement affirm*
        categorique* trancher fiable* avere* plausible* serait
    """,
    "sorry": "desole* malheureusement regrette regret* helas navre* pardon excuse* dommage crains",
    "assistant": """
        assistant* chatbot robot ia modele perimetre role mission tache concu* entraine* programme* configure*
        competence* domaine sujet sujets cadre consigne* hors ressort service canal outil conseil conseils
    """,
    "looked": "cherche* parcouru* examine* consulte* verifie* lu relu fouille* epluche* recherche* recherches lecture",
    "access": """
        acces accessible* droit* autoris* habilit* confidentiel* protege* verrouill* reserve* restreint* mot prive*
        temps reel direct actualise* erreur echoue* echec* refuse* interdit* ouvrir invisible profil identifiant*
    """,
    "gladly": """
        ravi* volontiers plaisir heureux heureuse reformul* precis* partag* transmett* envoy* essay* nouveau aider
        hesite* hesitez
    """,
    "leave": "laisse* reste* ouvert* suspens reponse flou vague ombre tranche* indecis*",
    "trace": "mot trace traces mention* mentionne rien aucun aucune nulle part silence indice* ligne motus pas",
    "which": """
        quel quelle quels quelles lequel laquelle lesquels si agit parlez depend depends besoin preciser
    """,
}


SPANISH: Mapping[str, str] = {
    "only": "solo solamente unicamente tan exclusivamente apenas simplemente mas",
    "limit": """
        termina* acaba* interrump* corta cortan limita* llega llegan hasta abarca* cubre* ultimo* ultima* anterior*
        antiguo* periodo alcanza* detiene* data datan remonta* cine fecha salta pasa trata tratan cinen refiere*
        refieren corresponde*
    """,
    "unreadable": """
        ilegible* tachad* borros* borrad* emborronad* cortad* tapad* arrancad* manchad* rot* censurad* danad* blanco
        vacia vacio vacias vacios escane* incomplet* trunc* deteriorad* descolorid* ocult* cubiert* recortad* mutilad*
        desenfocad* oscurecid* corrupt* rasgad* garabat* lapiz emborron* sello
    """,
    "given": """
        facilitad* adjunt* recuperad* cargad* subid* proporcionad* aportad* entregad* recibid* disposicion dispongo
        disponible* indexad* enviad* mano delante incluid* compartid* tengo pasado aqui suministrad* consultad*
        devuelt*
    """,
    "elsewhere": "remite remiten remit* deriva vease ver anexo anexos refiere enlace apendice complement*",
    "contact": """
        contact* pongase ponte consult* llam* pregunt* escrib* dirij* dirig* acud* servicio secretaria oficina medico
        medica farmaceutic* abogad* asesor* gestor* profesional* especialista* atencion telefono ventanilla pediatra
        responsable* veterinari*
    """,
    "differ": """
        contradic* discrep* difier* divergen* ambigu* inconsisten* varias varios versiones ambos ambas dos segun
        discuti*
    """,
    "pass": """
        abstengo abstenerme prefiero preferiria aventurar aventurarme arriesgar* rehuso declino pronunci* evitar
        comprometer* mojarme atrevo atreveria paso lamento prudente quisiera ni idea pillas
    """,
    "guesswork": """
        especul* supon* supos* adivin* conjetur* invent* hipotesis inferir inferencia* deducir deduccion* imagin*
        extrapol* bola azar apuesta
    """,
    "perhaps": """
        quiza quizas acaso tal vez probabl* posibl* parece parecen pareceria podria podrian puede apunta* sugier*
        dificil complicado seguro seguridad certeza certezas ciert* fiable* fehaciente* rotund* taxativ* categoric*
        firme* concluyente* afirm* seria aventur*
    """,
    "sorry": "lamentablemente desafortunadamente desgracia siento lamento disculp* perdon* lastima temo ojala",
    "assistant": """
        asistente* chatbot bot ia modelo ambito funcion tarea disenad* entrenad* programad* configurad* alcance
        competencia* tema temas preparad* cometido papel fuera politica servicio canal chat recomendaciones
    """,
    "looked": "busc* revis* consultad* examin* leid* repas* mirad* rastre* comprob* recorr* busqueda",
    "access": """
        acceso acceder permiso* autoriz* confidencial* protegid* contrasena bloquead* restring* reservad* privad*
        tiempo real directo actualizad* error fallo fallid* abrir abrirlo denegad* prohib* acceda perfil habilitad*
        credencial*
    """,
    "gladly": """
        gusto encantad* reformul* precis* compart* envi* subir suba sube prueb* intent* nuevo ayudar ayudarle ayudarte
        concret* indique* indica
    """,
    "leave": "queda* deja dejan dejaria aire abiert* suspenso pendiente* incognita resolv* sigue* oscuras",
    "trace": """
        palabra rastro mencion* nada ningun* ni nadie silencio alusion* pista* indicio* constancia linea jota tampoco
    """,
    "which": "cual cuales refieres refiere quiere quieres si version depende necesit* saber claro",
}


ITALIAN: Mapping[str, str] = {
    "only": "solo soltanto solamente unicamente esclusivamente semplicemente appena sola soli sole che",
    "limit": """
        termina* finisce* finiscono interromp* limita* copr* coprono ferma* fermano fino arriva* arrivano ultim*
        preceden* anterior* periodo risale risalgono aggiornat* concern* riguard* salta passa tratta trattano vecchi*
        fermo circoscri*
    """,
    "unreadable": """
        illeggibil* sbiadit* copert* cancellat* sbarrat* strappat* macchiat* oscurat* tagliat* sfocat* vuot* bianco
        scansion* scansit* tronc* rovinat* danneggiat* omissis mancant* incomplet* coprent* annerit* mascherat*
        sgranat* abras* corrott* sovrappost* scarabocch* matita timbro
    """,
    "given": """
        fornit* allegat* recuperat* caricat* trasmess* disposizion* dispongo disponibil* indicizzat* consegnat*
        ricevut* inviat* mano davanti inclus* condivis* ho qui restituit* estratt* passat* consultat* messi messo
    """,
    "elsewhere": "rimanda* rinvia* rinvi* rimando vedi allegato allegati riman* appendice integrazion*",
    "contact": """
        contatt* rivolg* chiam* chied* telefon* scriv* consult* ufficio segreteria medico farmacist* avvocat*
        consulent* servizio sportello assistenza specialista professionist* numero commercialista pediatra sentire
        referente veterinari* telefonand* verificarlo parlane
    """,
    "differ": """
        contraddi* discord* divergen* divergono ambigu* inconsisten* diverse diversi versioni entrambi entrambe due
        seconda contrast*
    """,
    "pass": """
        astengo astenermi preferisco preferirei sbilanci* azzard* rifiuto evitare pronunci* tirarmi indietro passo
        esprimermi impegnarmi rammaric* prudent* spiace dispiace idea boh buio
    """,
    "guesswork": """
        specul* suppo* indovin* congettur* ipote* inventa* invent* dedur* deduzion* immagin* estrapol* illazion*
        azzard* scommes* palla sfera tirare
    """,
    "perhaps": """
        forse magari probabil* possibil* sembra sembrano sembrerebbe pare parrebbe potrebbe potrebbero suggerisc*
        lascia* difficile complicato sicur* certezz* certo certa attendibil* affidabil* definitiv* categoric*
        conclusiv* afferm* sarebbe verosimil*
    """,
    "sorry": "purtroppo spiace dispiace scus* rammaric* spiacente* perdon* peccato temo malauguratamente",
    "assistant": """
        assistente* chatbot bot ia modello ambito compito ruolo progettat* addestrat* programmat* configurat*
        competenz* argoment* tema temi funzione fuori policy perimetro servizio canale chat strumento
    """,
    "looked": """
        cercat* controllat* consultat* esaminat* lett* rilett* scorso verificat* passat* guardat* ricerca spulciat*
    """,
    "access": """
        accesso accedere permess* autorizz* riservat* confidenzial* protett* password bloccat* limitat* privat* tempo
        reale diretta aggiornat* errore fallit* aprire vietat* negat* apribil* profilo abilitat* credenziali visibil*
    """,
    "gladly": """
        volentieri felice liet* riformul* precis* condivid* invi* caric* riprov* prov* nuovo aiutar* piacere specific*
    """,
    "leave": "rest* lascia* lasciano aperta aperto sospeso insolut* irrisolt* dubbio rimane rimangono buio mistero",
    "trace": """
        parola traccia tracce menzion* nulla niente nessun* ne1 accenn* silenzio tace tacciono cenno indizi* riga
    """,
    "which": "quale quali riferisc* se intend* versione dipende sapere interessa desidera",
}


PORTUGUESE: Mapping[str, str] = {
    "only": "so somente apenas unicamente exclusivamente simplesmente tao mais senao",
    "limit": """
        termina* acaba* interromp* limita* cobr* cobrem ate vai vao ultim* anterior* periodo restring* encerra* para
        abrang* data datam pula salta passa trata tratam antig* cinge* resume*
    """,
    "unreadable": """
        ilegivel ilegiveis rasurad* apagad* riscad* borrad* manchad* rasgad* cortad* tapad* tarjad* digitaliz* branco
        vazi* trunc* danificad* ocult* cobert* incomplet* arrancad* desbotad* corromp* desfocad* censurad* mutilad*
        carimb* rabisc* garatuj* lapis sobrepost*
    """,
    "given": """
        fornecid* anexad* recuperad* carregad* enviad* disponibiliz* disponiv* disponho disposicao indexad* entreg*
        recebid* junto mao aqui frente inclui* partilhad* compartilh* tenho passad* deram facultad* retornad*
        consultad* chegou trouxe*
    """,
    "elsewhere": "remete* remetem remiss* ver anexo anexos encaminh* refere apendice complement*",
    "contact": """
        contact* contat* ligue ligar pergunt* escrev* dirija* dirigir consult* procure procurar secretaria balcao
        servico medic* farmaceutic* advogad* contador* atendimento telefone especialista* profissional* assessor*
        responsavel central veterinari* fale falar tratad* medico
    """,
    "differ": """
        contradi* discord* diverg* difere* ambigu* inconsisten* varias varios versoes ambos ambas dois duas conforme
        controver*
    """,
    "pass": """
        abstenho abster prefiro preferia arriscar aventurar recuso evitar pronunci* comprometer devendo ousaria atrevo
        passo declino lamento prudente quis gostaria ideia devo
    """,
    "guesswork": """
        especul* supo* suposic* adivinh* conjetur* conjectur* invent* hipotese* palpite* chute chutar deduz* deduc*
        imagin* extrapol* achismo bola aposta
    """,
    "perhaps": """
        talvez quica provavel* possivel* possivelmente parece parecem pareceria poderia poderiam pode sugere* indici*
        dificil complicado certeza certezas seguranca segur* certo fiavel confiavel fiaveis categoric* conclusiv*
        taxativ* afirm* seria
    """,
    "sorry": "infelizmente lamento lamentavelmente desculp* desculpe perdao pena receio temo lastim*",
    "assistant": """
        assistente* chatbot bot ia modelo ambito funcao tarefa projetad* treinad* programad* configurad* dedicad*
        competencia* tema temas assunto assuntos escopo fora politica papel servico canal chat orientac*
    """,
    "looked": """
        procur* revi busquei consultei analis* examin* li reli verific* pesquis* vasculh* percorri busca pesquisa
        consulta
    """,
    "access": """
        acesso aceder acessar permiss* autoriz* confidenci* protegid* senha bloquead* restri* reservad* privad* tempo
        real vivo atualiz* erro falh* abrir negad* proibid* perfil habilitad* credencia*
    """,
    "gladly": """
        prazer feliz gosto reformul* precis* partilh* compartilh* envi* carreg* tente novamente nova ajudar ajudo
        indique especific*
    """,
    "leave": "fica* deixa* deixam deixar aberto aberta suspenso duvida resposta pendente* continu* permanece*",
    "trace": """
        palavra rasto rastro menc* nada nenhum* nem ninguem silenc* alus* pista* indicio* linha omisso* tampouco
    """,
    "which": "qual quais refere se quer versao depende saber precis*",
}


# Words by which a refusal is known that no rule of the grammar reads: what they are signs of, in six languages.


_ENGLISH: Mapping[str, str] = {
    "only": "only just merely solely simply exclusively strictly purely alone",
    "limit": """
        end ends ended stop stops stopped break breaks broke cut cuts limit* restrict* confined extend extends reach
        reaches run runs date dates dated until till up through latest last earlier older prior predates oldest period
        skip skips jump jumps short
    """,
    "unreadable": """
        illegible unreadable smudge* blurr* blur redact* blacked masked torn faded fades crossed struck stain* cropped
        truncat* garbled corrupt* damaged blank empty obscured covered scan* ocr watermark missing unfilled
        placeholder broken unlabelled hidden scrambled cut faint burnt scribble* handwrit* pencil* overwritten washed
    """,
    "given": """
        upload* retriev* received provided given supplied attached attach* enclosed indexed loaded shared available
        hand front here disposal passed fed includ* ingested surfaced returned collection material
    """,
    "elsewhere": """
        refer refers referred referring point points pointing defer defers directs link links see annex appendix
        supplement
    """,
    "contact": """
        contact ask call ring phone email mail consult visit speak reach check helpline hotline office team department
        desk support counsellor gp doctor pharmacist lawyer adviser advisor vet professional manager colleague staff
        surgery registrar
    """,
    "differ": """
        contradict* conflict* disagree* differ* inconsistent ambigu* diverge* versions both either mixed unresolved
        disput*
    """,
    "pass": """
        decline refuse refrain rather prefer pass regret wary reluctant hesitate commit committing venture promise
        vouch stick sorry won steer avoid careful beats dunno clueless stumped owe lost idea
    """,
    "guesswork": """
        guess guess* speculat* guesswork conjecture assum* invent* infer* inference imply fabricat* crystal stab
        gamble extrapolat* educated hunch
    """,
    "perhaps": """
        perhaps maybe might may could possibl* probabl* likely presumabl* conceivabl* seem seems seemingly appear
        appears apparently suggest suggest* hint* difficult hard tricky tough certain certainty sure definite
        definitive definitively conclusive conclusively confident confidence confidently reliabl* firm
    """,
    "sorry": "sorry afraid unfortunately regrettabl* apolog* regret alas sadly wish pity",
    "assistant": """
        assistant chatbot bot ai model scope remit role task purpose designed trained tuned programmed built here
        configured responsible tool knowledge policy guideline guidelines outside topic topics domain service channel
        offer advice
    """,
    "looked": """
        look* search* check* read reading went gone go through review* examin* scan* scour* brows* comb* consulted
    """,
    "access": """
        access permission* restricted confidential locked password protected permitted allowed authoris* authoriz*
        sealed private privacy classified denied realtime live error timeout failed unreachable current entitled
        cleared authorisation authorization permissions rights profile
    """,
    "gladly": "happy glad gladly love let rephrase upload share send provide specify clarify try again further help",
    "leave": """
        leave leaves left open unanswered unsettled unresolved air hanging blank unsaid dark undecided remain remains
    """,
    "trace": """
        trace word mention hint clue sign evidence anything nothing reference syllable line nowhere anywhere none
    """,
    "which": "which whether one mean meant referring specify version depends depend after",
}


_GERMAN: Mapping[str, str] = {
    "only": "nur lediglich bloss ausschliesslich allein einzig blosse",
    "limit": """
        endet enden endete bricht brechen brach abbricht reicht reichen beschrank* begrenz* stammt stammen bis letzte*
        alter* stand zeitraum deckt abdeckt hort horen aufhort schliesst datiert umfasst umfassen springt aktuell*
        veraltet jungste* jungere* fruhere*
    """,
    "unreadable": """
        unleserlich* unlesbar* verwischt* verschwommen* verschmiert* geschwarzt* abgerissen* durchgestrichen*
        uberklebt* verdeckt* abgeschnitten* beschadigt* leer leere leeres verblasst* ausgeblichen* fleck* gescannt*
        scan* texterkennung ocr unkenntlich* ausgelassen* abgedeckt* platzhalter unvollstandig* herausgerissen*
        verstummelt* defekt* verpixelt* uberdeckt* zerstort* entfernt* gekritzel* kritzel* bleistift* schwarz*
        uberschrieben*
    """,
    "given": """
        hochgeladen* abgerufen* beigefugt* bereitgestellt* ubermittelt* vorliegend* vorliegt vorliegen liegt liegen
        mitgeliefert* angehangt* geliefert* gefunden* erhalten verfugung verfugbar* indexiert* uberlassen* ubergeben*
        hinterlegt* geladen* mitgegeben* beiliegend* beilage vorhanden* gespeichert* treffern
    """,
    "elsewhere": "verweist verweisen verwiesen verweis* siehe anhang anlage anlagen richtet bezug zusatz*",
    "contact": """
        wenden fragen frag anrufen rufen ruf kontakt* erkundigen telefon* mail hotline kundendienst kundenservice
        service amt behorde arzt arztin apotheke apotheker* anwalt anwaltin steuerberater* beratung* fachmann stelle
        abteilung ansprechpartner* sekretariat hausarzt* rechtsanwalt* rechtsberatung verwaltung zustandige*
        nachfragen besprechen hebamme kundenportal erfahren
    """,
    "differ": """
        widersprech* widerspruch* uneinig* unterschiedlich* mehrdeutig* abweich* verschieden* mehrere versionen beide
        beides strittig*
    """,
    "pass": """
        passen festlegen schuldig verzichte verzichten ablehnen enthalte ungern lieber mochte weigere darf wage wagen
        verlassen versprechen zurucknehmen uberfragt zuruckhalten keine ahnung trau traue ratlos
    """,
    "guesswork": """
        spekul* vermut* raten mutmass* kaffeesatz* spekulation* annahme* hellsehen erfinden geraten ruckschluss*
        herleit* ableit* glaskugel* schatzung* uberinterpret*
    """,
    "perhaps": """
        vielleicht moglicherweise eventuell vermutlich wahrscheinlich womoglich konnte konnten durfte scheint scheinen
        offenbar anscheinend deutet deuten spricht sprache schwer schwierig sicher sicherheit verlasslich* eindeutig*
        gesichert* belastbar* abschliessend* zuverlassig* zweifelsfrei* bestimmtheit wohl
    """,
    "sorry": "leider bedauerlicherweise bedaure bedauern entschuldig* verzeihung schade leid bedauerlich",
    "assistant": """
        assistent* chatbot bot ki modell aufgabe* zustandig* zustandigkeit* dafur trainiert entwickelt konfiguriert
        ausgelegt rolle thema themen bereich themenbereich vorgabe* richtlinie* ausserhalb sprachmodell wissensstand
        dienst chat kanal anwendung
    """,
    "looked": """
        durchsucht* durchgesehen gesucht gepruft nachgesehen gelesen durchgelesen gesichtet durchforstet recherch*
        nachgeschaut durchgegangen suche
    """,
    "access": """
        zugriff* zugang* berechtig* gesperrt* vertraulich* geschutzt* passwort kennwort freigegeben* freigabe erlaubt
        befugt datenschutz* intern* echtzeit live aktuelle fehler fehlgeschlagen einsehbar* einsehen einsicht
        verschlossen offnen berechtigung* profil rechte recht
    """,
    "gladly": """
        gern gerne helfe weiterhelfen formulieren umformulieren laden hochladen schicken versuchen nochmal erneut
        stellen mitteilen prazisieren teilen
    """,
    "leave": """
        offen bleibt bleiben lasst lassen offengelassen ungeklart* unbeantwortet* dunkel dunkeln schwebe raum
        dahingestellt unklar*
    """,
    "trace": """
        wort silbe spur spuren rede sprache erwahnung hinweis* nirgends nirgendwo zeile anhaltspunkt* nichts weder
        keinerlei vergeblich vergebens fehlanzeige fundig
    """,
    "which": """
        welche welcher welches welchen welchem ob meinen meinst gemeint denn kommt darauf abhangt brauche brauchte
        benotige
    """,
}


SIGNS: Mapping[str, Mapping[str, str]] = {
    "en": _ENGLISH,
    "de": _GERMAN,
    "fr": FRENCH,
    "es": SPANISH,
    "it": ITALIAN,
    "pt": PORTUGUESE,
}
"""The words of each language, by its code and by what they are a sign of."""
