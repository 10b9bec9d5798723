"""Portuguese."""

from evals.text.refusals.lexicon import ROMANCE, Language

PORTUGUESE = Language(
    code="pt",
    function="""
        a ainda alem ali ao aos apos aquela aquele aqui as assim ate atraves bem cada com como contra contudo
        da das de dela dele deles depois desde dessa desse desta deste deve do dos e ela elas ele eles em
        entre era essa esse esta estao estas estava este estes estou eu foi foram ha isso isto ja la lhe mais
        mas me mesmo meu minha muito na nada nao nas nem nessa nesse nesta neste no nos nossa nosso num numa o
        onde os ou para pela pelas pelo pelos perante pode por porem porque portanto pois qual quais quando
        quanto que quem se sem ser sera seu seus so sob sobre sua suas talvez tambem tao te tem todo todos tu
        tua um uma umas uns vos voce voces infelizmente lamento desculpe entanto fornecidos fornecido
        fornecidas disponiveis disponivel respeito partir relacao
    """,
    words={
        "without": "sem",
        "not": "nao nem nunca jamais tampouco",
        "none": "nenhum nenhuma nenhuns nada ninguem sem qualquer quaisquer",
        "text": """
            documento documentos documentacao texto textos contexto contextos fonte fontes trecho trechos
            excerto excertos
        """,
        "source": """
            manual manuais relatorio pagina paginas arquivo arquivos ficheiro ficheiros guia guias
            folheto bula base secao capitulo conteudo conteudos livro carta dados informacoes site
            corpus aqui conhecimento resultados regulamento organograma cronica descricao rotulo
            entrevista tabela ata resumo lista nota notas anuncio relato processo artigo artigos
            material materiais passagem passagens biografia condicoes clausula clausulas programa
            programas noticia noticias anuncios cronicas cartas estatuto estatutos formulario registo
            registro registos registros ementa cardapio ficha fichas reportagem reportagens jornal
            jornais correio email emails mensagem mensagens fatura faturas anexo anexos calendario
            horario horarios catalogo listas estudo estudos edicao boletim comunicado wiki blog
            transcricao instrucoes laudo laudos memorando busca acervo peca pecas indice edital contrato
            sumario resultado brochura legenda aviso convite papeis atas bases normas normativa rotulos
            cartaz cartazes tabelas grafico graficos instrucao edicoes apontamentos caderno
        """,
        "contract": "contrato contratos apolice garantia garantias seguro lei leis tarifa tarifas preco",
        "told": """
            informacao informacoes info detalhe detalhes pormenor pormenores mencao mencoes
            referencia referencias indicacao indicacoes resposta respostas explicacao explicacoes
            pista indicio dado dados alusao esclarecimento acesso conclusao rasto rastro vestigio
            palavra palavras base aconselhamento conselho conselhos recomendacao noticia noticias
            data
        """,
        "data": """
            dados numero numeros resultado resultados correspondencia prova provas conteudo documento
            documentos
        """,
        "say": """
            diz dizem diga indic* mencion* especific* precis* explic* abord* trata tratam tratar trate
            refere* referi* descrev* permite permitem permita permitam respond* fala falam falar cit*
            esclarec* inform* revel* detalh* nome* faz fazem confirm* estipul* preve preveem pronunci*
            consegue fix* concret* da1 dao dar apont* enumer* dizer mencionar indicar explicar nomear
            citar esclarecer especificar precisar revelar deixa deixam consta depreend* conta contam
            traz trazem tocam toca entra entram falem fale digam chega chegam bastam cuantific*
            quantific* estabelec* defin* regist* resolv* contempl* adiant* avanc* divulg* ensin* coment*
            public* atribu* declar* acrescent* recolh*
        """,
        "tell_of": """
            trata tratam descreve descrevem menciona mencionam fala falam aborda abordam contem
            cita citam so apenas somente terminam termina acaba acabam vao cobre cobrem explica
            explicam traz trazem enumera enumeram limita limitam interrompe incompleto incompleta
            abrange abrangem indica indicam informa informam conta contam preve preveem alude
        """,
        "hold": "contem contenh* inclu* oferec* fornec* apresent* da1 dao traz trazem acrescent* cobr*",
        "said": """
            mencionad* indicad* especificad* precisad* explicad* descrit* abordad* tratad* citad*
            referid* determinad* deduzid* apresentad* estabelecid* documentad* esclarecid* inferid*
            registad* registrad* nomead* listad* feit* dad* publicad* creditad* anotad* datad* dit*
            fornecid* legivel legiveis transcrit* discriminad* calculad* comparad* enumerad*
            quantificad* fixad* revelad* detalhad* informad* clar* concretizad* dita depreend* indica
            menciona especifica explica diz refere relatad* divulgad* resolvid* definid* atribuid*
            declarad* explicitad* confirmad* conhecid* comunicad* preenchid* mencionado
        """,
        "held": "incluid* disponiv* contid* encontrad* fornecid* present* dada dadas",
        "find": """
            encontrar encontrado encontrada encontrados encontrei responder determinar saber sei dizer
            identificar confirmar deduzir estabelecer localizar achar achei conhecer dar oferecer
            fornecer verificar ver vejo inferir extrair localizado encontramos apurar informar indicar
            precisar encontra encontram calcular comparar ler recomendar prever avaliar estimar resumir
            explicar concluir descobrir obter obtido recuperar recuperado retornou devolveu retornado
            devolvido entender perceber nomear citar sabemos opinar depreende infere localizei adiantar
            senalar sinalizar garantir assegurar afirmar apontar
            descortinar
        """,
        "find_myself": "sei encontrei vejo achei conheco sabemos encontramos localizei saberia vi",
        "help": "ajudar ajuda especular adivinhar auxiliar auxilia assistir informar orientar",
        "have": "tenho temos disponho dispomos possuo",
        "have_myself": "tenho temos disponho dispomos possuo",
        "me": "eu posso consigo pude consegui sou estou me tenho prefiro receio",
        "us": "podemos conseguimos",
        "can": "pode podem possivel capaz conseguiu consegue condicoes posso",
        "unable": "impossivel incapaz",
        "unknown": """
            desconhecido desconhecida desconhecidos incerto incerta insuficiente insuficientes
            indeterminado indeterminada impreciso imprecisa ilegivel ilegiveis indisponivel
            indisponiveis
        """,
        "sure": "claro clara certeza conhecido conhecida sabe conhece seguro certo",
        "there": "ha1 existe existem havia",
        "question": "pergunta perguntas consulta questao pedido pesquisa solicitacao",
        "who": "quem que qual quais quando onde como quanto quantos se",
        "it": "o isso isto esse essa",
        "be": "e1 sao foi ser esta1 estao se sido foram parece parecem fica permanece vem",
        "lack": """
            falta faltam ausente carece omisso omissa omite omitem silencio cala calam silencia
            faltando incompleto incompleta omissos omissas mudo muda
        """,
        "appear": "aparece aparecem consta constam figura figuram surge surgem vem",
        "defined": "definid*",
        "more": """
            mais outro outra outros outras exato exata exatamente expressamente explicitamente preciso
            precisa adicional adicionais completo completa oficial absoluta restante diretamente
        """,
        "enough": "suficiente* relevante* pertinente* bastante",
        "this": "isso isto",
        "my": "meu minha meus minhas nosso nossa nossos nossas",
        "outside": "fora excede",
        "from": "em no na nos nas de do da dos das segundo com entre",
        "that": "que",
        "part": "parte",
        "about": "sobre acerca respeito",
    },
    rules=(
        *ROMANCE,
        "n~2 b~1 f",  # nao se encontra
    ),
    unknowns=(
        "b~1 n~1 X",
        "n~1 b~1 X",
    ),
    but=(r"mas",),
    however=(r"porem|contudo|no entanto|entretanto|todavia",),
    hence=(r"pelo que|de modo que|dai que|portanto|por isso|pelo que|logo",),
    although=(r"embora|ainda que|mesmo que|apesar de|se bem que|enquanto",),
    relative=(r"que|quem",),
    openers=(
        r"\W*(?:portanto|assim|por isso|no entanto|contudo|alem disso|infelizmente|lamentavelmente|desculpe|"
        r"desculpa|lamento|peco desculpa|peco desculpas|sinto muito)\b[\s,.:!–-]*(?:mas |que )?",
        r"(?:com base|segundo|de acordo|a partir|nos|nas|no|na|conforme) [^,]{0,60}\b(?:contexto|documentos?|"
        r"fontes?|textos?|informacoes|passagens|trechos?|excertos?|dados)\b[^,]{0,40}, ",
    ),
    referrals=(
        r"\b(?:secretaria|departamento|servico|atendimento|equipa|equipe|suporte|medic[oa]|advogad[oa]|"
        r"farmaceutic[oa]|camara|prefeitura|arquivo municipal|balcao)\b.{0,60}\b(?:podera|poderao|pode|podem|deve|"
        r"devera|sabera|saberao|poderia)\b|\b(?:pode|podes|poderia|podera) (?:\w+ )?(?:ligar|ver|visitar|escrever|"
        r"dirigir\w*|contactar|contatar|consultar|perguntar|encontrar|procurar|verificar|tentar)\b|^(?:ligue|liga|"
        r"pergunte|escreva|dirija-se|visite|verifique|veja|fale|procure)\b|^se (?:tiver|quiser|preferir|precisar|"
        r"desejar|me|puder)\b|\b(?:entendo|compreendo|percebo) que\b|^(?:li|reli|consultei|revi|vi|examinei)\b|"
        r"^agradec\w+",
    ),
    courtesy=(
        r"\b(?:entendo|compreendo|percebo) que\b|^(?:ola|bom dia|agradec\w+|li|reli|consultei|revi|examinei)\b",
        r"\b(?:por favor|obrigad[oa]|contacte|contate|entre em contato|consulte|recomendo|sugiro|aconselho|"
        r"posso ajudar|tente|nao hesite|pode (?:consultar|contactar|tentar|perguntar)|lamento|desculp\w*|"
        r"procurei|pesquisei|verifiquei|analisei)\b",
    ),
    guesses=(
        r"\b(?:provavelmente|possivelmente|aparentemente|parece|ao que parece|sugere\w*|aproximadamente|cerca de|"
        r"supoe-se|suponho|acho|creio|deve ser|deveria|devera|costuma|em geral|geralmente|pode-se inferir|"
        r"conclui-se)\b",
    ),
    maybe=(r"\b(?:talvez|e1 possivel(?: que\b|$)|pode ser que|noutr[oa]s?|em outr[oa]s?|porventura)\b",),
    reports=(
        r"^se (?:o|a|os|as|nao|voce|um|uma|for|houver)\b",
        r"\b(?:admit\w*|reconhec\w*|critic\w*|disse|disseram|declar\w*|afirm\w*|escreveu|se nao|quando|porque|"
        r"deve|devem|e preciso|clientes?|utilizador\w*|usuarios?|significa|respondeu)\b",
    ),
    reasons=(r"como|dado que|uma vez que|visto que|ja que",),
    apart=(
        r"sem (?:\w+mente |no entanto |contudo |porem |que |nunca )*(?:dizer|dar|precisar|indicar|mencionar|nomear|"
        r"citar|explicar|fornecer|falar|especificar|esclarecer|fixar|referir|revelar|detalhar)",
    ),
    conditions=(r"se|quando|caso|no caso",),
    because=(r"porque|ja que",),
    hints="""
        dificil desconhece desconheco ignoro so apenas somente seria precisaria necessitaria teria fica
        ficam deixa deixam permanece permanecem continua ficou ficaram lamento lamentamos pena sinto
        terminam acabam interrompem param vao ausente faltar falta
    """,
    declines=(
        r"\b(?:meus|minhas|que tenho|de que disponho)\b.{0,40}\b(?:terminam?|acabam?|interrompem-se|param|vao so|"
        r"so vao)\b",
        r"\bparece\w* (?:estar )?(?:ausente|faltar|em falta)\b",
        r"\b(?:ficou|ficaram|fica|deixad[oa]s?) (?:de fora|as escuras|de lado)\b|\bnao (?:me |nos )?(?:foi|"
        r"foram) (?:fornecid|enviad|facultad|disponibilizad|carregad)\w*|\bnao (?:basta|bastam|chega|"
        r"chegam) (?:para|a)\b",
        r"\b(?:so|apenas|somente) (?:tenho|disponho|vejo|conheco|recebi)\b|\b(?:tenho|disponho) (?:so|apenas|"
        r"somente)\b",
        r"\b(?:seria (?:preciso|necessari[oa])|precisaria|necessitaria|teria (?:de|que) (?:ver|consultar|conhecer|"
        r"ter|saber))\b",
        r"\b(?:nao (?:me cabe|me compete)|nao (?:estou|sou) (?:autorizad|habilitad|em condicoes|capaz|medic|advogad|"
        r"qualificad)\w*|nao (?:posso|poderia|consigo|conseguimos|saberia|vejo|encontro|tenho como|"
        r"me e1 possivel))\b",
        r"\b(?:nem uma (?:so )?palavra|(?:nao|sem) (?:ha1 )?(?:rasto|rastro|vestigio|sinal)|em (?:lado|lugar|parte|"
        r"momento|ponto) (?:nenhum|algum)|em nenhum(?:a)? (?:lugar|parte|pagina|momento|ponto|trecho))\b",
        r"\bnada (?:se )?(?:diz|dizem|indica|refere|referem|menciona|mencionam|informa|consta|ha1|encontrei|"
        r"esclarece|adianta)\b|\bnao (?:se )?(?:diz|indica|menciona|refere) nada\b|\b(?:lamento|lamentamos|pena|"
        r"sinto) (?:muito )?nao (?:poder|ter|saber|conseguir|dispor)\b",
        r"\b(?:fica|ficam|deixa|deixam|permanece|permanecem|continua)\b.{0,40}\b(?:por (?:saber|esclarecer|"
        r"responder|indicar|definir|dizer)|em aberto|sem (?:resposta|especificar|indicacao)|de fora)\b",
        r"\bnao (?:se (?:depreende|deduz|infere|consegue|percebe|pode (?:saber|determinar|deduzir|calcular))|"
        r"da1 para|e1 possivel (?:saber|determinar|responder|dizer|calcular|apurar))\b|\bnao (?:retornou|devolveu|"
        r"produziu) (?:qualquer|nenhum|resultad)\w*|\bnao (?:faz|fazem) parte\b",
        r"\b(?:nao|nem) (?:e1|foi|se faz|faz|fazem|ha1|e1 feita) (?:feita )?(?:qualquer |nenhuma )?(?:mencao|"
        r"referencia|alusao)\b",
        r"\bnao (?:deixa|deixam|fica) (?:muito )?claro\b",
        r"\bdificil (?:de )?(?:dizer|saber|determinar)\b",
        r"\b(?:desconhece-se|desconheco|ignoro|nao faco ideia|sem ideia|nao sei|nao sabemos)\b",
        r"\bfora (?:do|da|do meu) (?:ambito|escopo|alcance|contexto)\b",
        r"\b(?:so|apenas) posso (?:responder|ajudar)\b|\bposso (?:apenas|so|somente) (?:responder|ajudar)\b",
    ),
    bare=(
        r"(?:indeterminad|inconclusiv|desconhecid)[oa]s?|nao (?:informad[oa]|determinad[oa]|consta\w*|fornecid[oa]|"
        r"localizad[oa]|divulgad[oa]|ha1? (?:dados|informacao|informacoes|resposta|mencao)|e1 possivel (?:saber|"
        r"determinar)|se aplica|sei dizer)|(?:dado|informacao|dados|informacoes) (?:nao \w+|inexistente|ausente|"
        r"em falta|indisponivel|indisponiveis)|sem (?:mencao|indicacao|referencia|especificacao)(?: [\w ]{1,40})?|"
        r"nenhum(?:a)? (?:mencao|referencia|resposta|indicacao|correspondencia)(?: [\w ]{1,40})?|"
        r"impossivel (?:saber|determinar|dizer|responder)",
        r"(?:sem (?:informacao|informacoes|resposta|dados|resultados)|nao (?:especificad[oa]|indicad[oa]|"
        r"disponivel|mencionad[oa]|encontrad[oa]|informad[oa]|consta|sei|se sabe|aplicavel|conhecid[oa])|"
        r"desconhecid[oa]|nenhuma informacao|nenhum dado|nenhum resultado)",
    ),
    quantity=(r"\bquant[oa]s?\b",),
    numbers="""
        um uma dois duas tres quatro cinco seis sete oito nove dez onze doze vinte cem mil milhao meio gratis
        gratuito nada
    """,
    doers="vencedor autor fundador arquiteto inventor dono proprietario",
    asked={
        r"\bquando\b": "data dia ano mes momento horario",
        r"\bquanto (?:tempo|dura|demora)\b": "duracao prazo tempo",
        r"\bquant[oa]s?\b": "preco custo valor numero total quantidade altura peso",
        r"\bquem\b|\bcomo se chama\b": "nome pessoa identidade DOERS",
        r"\b(?:ganhou|venceu)\b": "vencedor ganhador",
        r"\bonde\b": "lugar local endereco morada",
        r"\bpor ?que\b|\bporque\b": "razao causa motivo",
        r"\bcomo (?:se|posso|faco|reinicio|peco)\b": "passo metodo procedimento",
    },
)
