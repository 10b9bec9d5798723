"""The signs (`signs`) of French, Spanish, Italian and Portuguese."""

from collections.abc import Mapping

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
