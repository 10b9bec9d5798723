"""Spanish."""

from evals.text.refusals.lexicon import ROMANCE, Language

SPANISH = Language(
    code="es",
    function="""
        a ademas ahi al algo algun alguna algunas algunos alla ante antes aqui aquel asi aun aunque bajo bien
        cada como con contra cual cuales cuando de del desde despues donde durante e el ella ellas ellos en
        entre era es esa esas ese eso esos esta estaba estan estar estas este esto estos fue fueron ha hacia
        haber han hasta hay he la las le les lo los lamento lamentablemente mas me mi mis mientras mucho muy
        nada ni nos nosotros o os otra otras otro otros para pero poco por porque pues que quien quienes se
        sea segun ser si sido sin sino siento sobre solo son su sus suya tal tambien tan tanto te tiene tienen
        toda todas todo todos tu tus un una unas uno unos usted ustedes y ya yo embargo disponibles disponible
        facilitados proporcionados proporcionada proporcionado respecto acerca partir cuanto
    """,
    words={
        "without": "sin",
        "not": "no ni nunca jamas tampoco",
        "none": "ningun ninguna ninguno nada nadie sin",
        "text": """
            documento documentos documentacion texto textos contexto contextos fuente fuentes fragmento
            fragmentos extracto extractos
        """,
        "source": """
            manual manuales informe informes pagina paginas archivo* guia guias prospecto* folleto* base
            bases seccion secciones capitulo* contenido* libro libros carta datos informacion sitio web
            corpus ficha* aqui conocimientos reglamento organigrama cronica descripcion etiqueta
            entrevista tabla acta actas resumen lista nota notas anuncio relato expediente articulo
            articulos material materiales pasaje pasajes biografia convenio cronicas hoja hojas programa
            programas noticia noticias anuncios resena resenas cartas formulario formularios menu
            registro registros apartado apartados estatuto estatutos indice diario periodico correo
            correos mensaje mensajes factura facturas anexo anexos calendario horario horarios catalogo
            plano listado listados legajo memoria memorias estudio estudios clausula clausulas
            testimonio edicion boletin boletines comunicado wiki blog transcripcion instrucciones
            cuaderno ficheros fichero busqueda busquedas archivos resultados capitulos invitacion
            papeles condiciones condicion prensa instruccion tablas grafico graficos cartel carteles
            manuscrito manuscritos album normas normativa
        """,
        "contract": "contrato* poliza* garantia* seguro* ley leyes tarifa* precio* plan",
        "told": """
            informacion informaciones info dato datos detalle detalles mencion menciones
            referencia referencias indicacion indicaciones respuesta respuestas explicacion
            explicaciones pista* constancia alusion* indicio* aclaracion acceso conclusion rastro
            palabra palabras nada1 pista pistas base asesoramiento consejo consejos recomendacion
            noticia noticias fecha fechas
        """,
        "data": "datos cifra cifras resultado* coincidencia* registro* evidencia* contenido* documento* numero",
        "say": """
            dice dicen diga digan indic* menc* especific* precis* explic* abord* trat* mencion* refier*
            describ* permite permiten permita permitan respond* senal* detall* habl* alud* cit* aclar*
            revel* nombr* expres* hace hacen confirm* estipul* inform* pronunci* contempl* preve preven
            concret* fij* apunt* enumer* alude aluden entra entran desvel* deja dejan llega llegan
            desprend* consign* cuenta cuentan decir precisar mencionar indicar explicar nombrar citar
            aclarar detallar concretar especificar bastan alcanzan cuantific* desglos* resolv* despej*
            arroj* reflej* registr* cuenta posicion* moj* defin* public* divulg* atribuy* coment* ensena
            recog* conten* establec* determin* declar* transcrib* da dan
        """,
        "tell_of": """
            trata tratan describe describen menciona mencionan habla hablan aborda abordan
            contiene contienen incluye incluyen cita citan solo solamente unicamente terminan
            termina acaba acaban llega llegan cubre cubren explica explican recoge recogen enumera
            enumeran limita limitan interrumpe corta incompleto incompleta abarca abarcan enumera
            da dan indica indican detalla detallan cuenta cuentan informa informan
        """,
        "hold": """
            contien* conteng* incluy* ofrec* proporcion* da dan facilit* aport* brind* recog*
            anad* cubr* recoj*
        """,
        "said": """
            mencionad* indicad* especificad* precisad* explicad* descrit* detallad* abordad* tratad*
            deducirse determinarse saberse establecerse inferirse responderse conocerse extraerse
            senalad* documentad* referid* registrad* nombrad* aclarad* consignad* anotad* dad* hech*
            publicad* concretad* listad* enumerad* acreditad* fechad* desprend* clar* legible*
            transcrit* dich* desglosad* calculad* comparad* precisa especifica indica menciona explica
            detalla nombra describe aclara concreta cita dice aborda recogido recogida divulgad*
            resuelt* definid* atribuid* cuantificad* establecid* declarad* reflejad* reproducid*
            especificars* confirmad* conocid* recogid*
        """,
        "held": """
            encontraron incluid* disponible* contenid* encontrado encontrada encontrados encontradas
            hallad* proporcionad*
        """,
        "find": """
            encontrar encontrado encontrada encontrados encontro encuentro encontre encuentra encuentran
            responder contestar determinar saber se1 decir identificar confirmar deducir establecer
            localizar hallar hallado averiguar conocer dar ofrecer proporcionar verificar precisar ver
            inferir extraer podido localizado facilitar informar indicar asegurar concretar calcular
            comparar alcanzo consigo logro leer recomendar predecir valorar evaluar estimar resumir
            hacer decirle decirte decirles darle darte responderle responderte explicar explicarle
            nombrar obtener obtenido recuperar recuperado devuelto devolvio arrojado aclarar saberlo
            saberse pronunciarme ofrecerle indicarle citar tramitar senalar senalarle adelantar
            adelantarle decirlo confirmarlo confirmarle comprobar comprobarlo valorarlo tramitarlo
            afirmarlo afirmar rellenar
        """,
        "find_myself": "encuentro encontre se1 veo encontramos sabemos localizo conozco sabria visto",
        "help": """
            ayudar ayudarte ayudarle ayudarles asistir especular adivinar suponer asistirle
            informarle informarte orientar ayudarlo ayudarla orientarle orientarte
        """,
        "have": "he hemos tengo tenemos dispongo disponemos",
        "have_myself": "tengo dispongo tenemos disponemos cuento contamos poseo",
        "me": "yo puedo pude he soy estoy me consigo logro logre prefiero",
        "us": "podemos hemos nosotros",
        "can": "puede pueden posible pudo capaz podido podria puedo podemos condiciones",
        "unable": "imposible incapaz",
        "unknown": """
            desconocido desconocida desconocidos incierto incierta insuficiente insuficientes
            indeterminado indeterminada impreciso imprecisa ilegible ilegibles insondable
        """,
        "sure": "claro clara seguro segura conocido conocida sabe conoce cierto",
        "there": "hay existe existen habia hubo",
        "question": "pregunta preguntas consulta consultas solicitud peticion busqueda",
        "who": "quien quienes que cual cuales cuando donde como cuanto cuantos si",
        "it": "lo eso esto ello ese esa",
        "be": "es son fue ser esta1 estan se sido parece parecen queda resulta viene",
        "lack": """
            falta faltan carece carecen ausente silencio omite omiten calla callan silencia falto
            incompleto incompleta obvia obvian
        """,
        "appear": "aparece aparecen aparezca consta constan figura figuran viene vienen obra obran entra sale salen",
        "defined": "definid*",
        "more": """
            mas otro otra otros otras exacto exacta exactamente expresamente explicitamente preciso
            precisa adicional adicionales completo completa oficial demas ulteriores tal
        """,
        "enough": "suficiente* relevante* pertinente* bastante",
        "this": "esto eso ello",
        "my": "mi mis nuestro nuestra nuestros nuestras",
        "outside": "fuera excede",
        "from": "en de del segun por a entre",
        "that": "que",
        "part": "parte",
        "about": "sobre acerca respecto",
    },
    rules=(
        *ROMANCE,
        "n~2 b~1 f",  # no se encuentra
    ),
    unknowns=(
        "b~1 n~1 X",
        "n~1 b~1 X",
    ),
    but=(r"pero|sino",),
    however=(r"sin embargo|no obstante|en cambio",),
    hence=(r"de ahi que|de modo que|de manera que|asi que|por lo que|por tanto|por eso",),
    although=(r"aunque|si bien|a pesar de que|aun cuando|mientras que",),
    relative=(r"que|quien|quienes",),
    openers=(
        r"\W*(?:por lo tanto|por tanto|sin embargo|ademas|asi pues|no obstante|lamentablemente|"
        r"desafortunadamente|por desgracia|lo siento|lo siento mucho|lo lamento|disculpe|disculpa|"
        r"perdon)\b[\s,.:!–-]*(?:pero |que )?",
        r"(?:segun|de acuerdo con|con base en|basandome en|a partir de|en) [^,]{0,60}\b(?:contexto|documentos?|"
        r"fuentes?|textos?|informacion|pasajes?|fragmentos?|extractos?)\b[^,]{0,40}, ?",
    ),
    referrals=(
        r"\b(?:secretaria|oficina|departamento|servicio|atencion al cliente|equipo|soporte|medic[oa]|abogad[oa]|"
        r"farmaceutic[oa]|ayuntamiento|archivo municipal|gestor\w*)\b.{0,60}\b(?:podra|podran|puede|pueden|deberia|"
        r"podria|sabra|sabran|informara)\b|\b(?:puede|puedes|podria|podrias|pueden) (?:\w+ )?(?:llamar|mirar|acudir|"
        r"escribir|dirigir\w*|ver|visitar|contactar|consultar|preguntar|encontrar|probar|revisar|buscar)\w*|"
        r"^(?:llame|llama|acuda|acude|pregunte|pregunta|escriba|escribe|dirijase|visite|revise|mire|hable)\b|"
        r"^si (?:tiene|tienes|quiere|quieres|lo desea|necesita|necesitas|me)\b|\b(?:entiendo|comprendo) que\b|"
        r"^(?:he|hemos) (?:mirado|leido|repasado|comprobado|examinado)\b",
    ),
    courtesy=(
        r"\b(?:entiendo|comprendo) que\b|^(?:hola|buenos dias|buenas|agradezco|agradecemos|(?:he|hemos) (?:mirado|"
        r"leido|repasado|comprobado|examinado))\b",
        r"\b(?:por favor|pongase|pongase|gracias|contacte|consulte|le (?:recomiendo|sugiero|aconsejo|invito)|"
        r"te (?:recomiendo|sugiero)|puedo (?:ayudar\w*)|intente|intenta|no dude|sugiero|recomiendo|"
        r"puede (?:consultar|contactar|probar|preguntar)|lo siento|disculp\w*|he (?:buscado|revisado|"
        r"consultado))\b",
    ),
    guesses=(
        r"\b(?:probablemente|seguramente|posiblemente|aparentemente|parece|pareceria|al parecer|sugiere\w*|"
        r"aproximadamente|unos|cabe suponer|se puede inferir|se deduce|supongo|creo|deberia|suele|en general|"
        r"generalmente)\b",
    ),
    maybe=(r"\b(?:quizas?|puede que|tal vez|es posible que|en otr[oa]s?|a lo mejor)\b|^es posible$",),
    reports=(
        r"\b(?:si|admit\w*|reconoc\w*|critic\w*|dijo|dijeron|declaro|afirm\w*|escribio|si usted|si no|cuando|"
        r"porque|debe|deben|hay que|clientes?|usuarios?|significa|respondio)\b",
    ),
    reasons=(r"como|dado que|puesto que|ya que",),
    apart=(
        r"sin (?:\w+mente |embargo |que |llegar a )*(?:decir|dar|precisar|indicar|mencionar|nombrar|citar|explicar|"
        r"ofrecer|hablar|especificar|aclarar|concretar|detallar|fijar)\w*",
    ),
    conditions=(r"si|cuando|en caso",),
    because=(r"porque|ya que",),
    hints="""
        dificil carezco carecemos desconoce desconozco desconocemos ignoro ignora guarda guardan solo
        unicamente solamente haria necesitaria seria tendria rastro queda quedan deja dejan sigue siguen
        quedo quedaron ausencia siento sentimos lamento lamentamos terminan termina acaban acaba llegan
        interrumpen detienen cortan ausente faltar
    """,
    declines=(
        r"\b(?:mis|que tengo|de que dispongo)\b.{0,40}\b(?:terminan?|acaban?|llegan solo|se interrumpen|se detienen|"
        r"se cortan)\b",
        r"\bparece\w* (?:estar )?(?:ausente|faltar)\b",
        r"\b(?:queda\w*|quedo|quedaron|deja\w*) (?:fuera|en el aire|a oscuras)\b|\bno (?:me |nos )?(?:ha|"
        r"han) sido (?:facilitad|proporcionad|enviad|cargad)\w*|\bno (?:basta|bastan|alcanza|alcanzan)\b",
        r"\bsolo (?:tengo|dispongo|cuento|veo|conozco|me consta|he recibido)\b|\b(?:tengo|dispongo|cuento) (?:solo|"
        r"unicamente|solamente)\b|\bno (?:tengo|dispongo|cuento)\b.{0,40}\bmas que\b",
        r"\b(?:haria falta|necesitaria|haria falta|se necesitaria|me haria falta|seria (?:necesario|preciso)|"
        r"tendria que (?:ver|consultar|conocer|tener))\b",
        r"\b(?:no me corresponde|no me compete|no (?:estoy|soy) (?:autorizad|capacitad|habilitad|facultad|medic|"
        r"abogad|quien|en condiciones|en disposicion|capaz)\w*|no (?:puedo|podria|sabria|alcanzo|consigo|logro|"
        r"acierto|encuentro|veo|localizo))\b",
        r"\b(?:ni (?:una )?(?:sola )?palabra|ni rastro|no hay rastro|ni mencion|brilla por su ausencia|"
        r"en ningun(?:a)? (?:sitio|parte|lugar|momento|pagina|apartado|pasaje)|por ninguna parte)\b",
        r"\b(?:siento|sentimos|lamento|lamentamos) no (?:poder|disponer|tener|saber|contar|haber)\b|"
        r"\b(?:nada (?:se )?(?:dice|dicen|indica|menciona|refiere|aclara|cuenta|consta|hay|aparece|he encontrado)|"
        r"no (?:se )?(?:dice|indica|menciona|cuenta|aclara) nada)\b",
        r"\b(?:queda|quedan|deja|dejan|sigue|siguen)\b.{0,40}\b(?:sin (?:precisar|aclarar|especificar|respuesta|"
        r"responder|mencionar|concretar)|en el aire|abiert[oa]|por saber|fuera)\b",
        r"\b(?:no se|no) (?:desprende|deduce|infiere|sabe|puede (?:saber|deducir|determinar|responder|calcular))\b|"
        r"\bno (?:ha|han|hay) (?:devuelto|arrojado|dado|producido|resultados)\b",
        r"\bno (?:se )?(?:hace|hacen|hay) (?:ninguna |la menor )?(?:mencion|referencia|alusion)\b|\bno (?:forma|"
        r"forman) parte\b",
        r"\bno (?:deja|dejan|queda) (?:muy )?claro\b",
        r"\bdificil (?:de )?(?:decir\w*|saber\w*|determinar\w*)\b",
        r"\b(?:carezco|carecemos|se desconoce|desconozco|desconocemos|lo ignoro|ignoro|se ignora|ni idea|"
        r"no lo se|no sabria|no se (?:si|quien|que|cual|donde|como|cuando|cuanto))\b",
        r"\bguarda(?:n)? silencio\b",
        r"\bfuera (?:de mi|del) (?:alcance|ambito|conocimiento|contexto)\b",
        r"\bsolo puedo (?:responder|ayudar)\b|\bsolo puedo (?:responder|ayudar)\b",
    ),
    bare=(
        r"(?:indeterminad|incognit)[oa]s?|no (?:disponible|determinad[oa]|consta\w*|facilitad[oa]|informad[oa]|"
        r"aparece|figura|hay (?:datos|informacion|respuesta|constancia)|lo se|puede saberse)|sin (?:constancia|"
        r"mencion|datos|determinar|precisar|especificar)(?: [\w ]{1,40})?|(?:dato|informacion)(?:es|s)? (?:no \w+|"
        r"inexistente|desconocid[oa])|ningun(?:a)? (?:mencion|referencia|resultado|coincidencia|"
        r"respuesta)(?: [\w ]{1,40})?|imposible (?:de )?(?:saber\w*|determinar\w*|responder)|ni idea",
        r"(?:sin (?:informacion|respuesta|datos|especificar|resultados)|no (?:especificad[oa]s?|indicad[oa]s?|"
        r"disponible|mencionad[oa]s?|encontrad[oa]s?|consta|se sabe|se menciona|se especifica|se indica|"
        r"conocid[oa]s?)|desconocid[oa]s?|ninguna informaci[oo]n|ningun dato|ningun dato)",
    ),
    quantity=(r"\bcuant[oa]s?\b",),
    numbers="""
        un una uno dos tres cuatro cinco seis siete ocho nueve diez once doce veinte cien mil millon medio
        gratis nada
    """,
    doers="ganador autor fundador arquitecto inventor dueno",
    asked={
        r"\bcuando\b": "fecha dia ano mes momento horario",
        r"\bcuanto (?:tiempo|dura|tarda)\b": "duracion plazo tiempo",
        r"\bcuant[oa]s?\b": "precio coste costo importe numero cifra total cantidad altura peso",
        r"\bquien(?:es)?\b|\bcomo se llama\b": "nombre persona identidad DOERS",
        r"\bgan(?:o|aron|a)\b": "ganador vencedor",
        r"\bdonde\b": "lugar direccion sitio ubicacion",
        r"\bpor que\b": "razon causa motivo",
        r"\bcomo (?:se|puedo|hago|reinicio|solicito)\b": "paso metodo procedimiento",
    },
)
