import { delayPattern, type Lexicon } from "./lexicon.ts";

const lead =
  "^(?:(?:então|e|mas|aliás|correção|na verdade|agora|atualmente|desde ontem|hoje em dia|a partir de agora|ultimamente)[,:]? )*";
const who = String.raw`(?:(?<who>eu|nós|ele|ela|a gente|(?:o meu|a minha|meu|minha|nosso|nossa|seu|sua|o|a) (?:[\p{L}'-]+ ){0,2}[\p{L}'-]+|(?:o |a )?[\p{Lu}][\p{L}-]+(?: [\p{Lu}][\p{L}-]+)?) )?`;
const soon = "(?: agora| atualmente| já| hoje em dia| recentemente| os dois)*";
const form = (rest: string) => delayPattern(`${lead}${rest}[.!]*$`, "iu");

export const portuguese: Lexicon = {
  code: "pt",
  marks:
    "o os as um uma é são eu meu minha meus nosso nossa e de do da dos das no na em que não por com para se moro trabalho tenho uso à ao está agora mais você a nos nas às aos pela pelo mudei",
  expansions: [
    [/\b(?:do|da|dos|das)\b/giu, "de o"],
    [/\b(?:no|na|nos|nas)\b/giu, "em o"],
    [/\b(?:ao|à|aos|às)\b/giu, "a o"],
    [/\b(?:num|numa)\b/giu, "em um"],
    [/\b(?:pelo|pela)\b/giu, "por o"],
  ],
  empty: "o a os as um uma uns umas de sou é são somos está estão se que eu nós já tem há",
  fillers:
    "por favor|lembre-se(?: de)?(?: que)?|lembra-te(?: de)?(?: que)?|não esqueça(?: que)?|anote(?: que)?|aliás|realmente|muito|bastante|atualmente|no momento|neste momento|ainda|como eu disse|simplesmente|de verdade",
  self: "me mim comigo nos",
  own: "meu minha meus minhas nosso nossa nossos nossas",
  others: "ele ela eles elas seu sua seus suas dele dela",
  asking:
    "que qual quais quem quando onde por-que porque como quanto quantos quanta quantas era foi pode podes devo deve devem há você seu sua teu tua te me-dê dê diga cite este esta estes estas esse essa isto ou mas se muito todo todos ser ter fazer faço fazemos sem entre sobre até desde num numa pelo pela",
  negations: "não nunca nenhum nenhuma sem nem jamais tampouco",
  numbers:
    "zero um dois três quatro cinco seis sete oito nove dez onze doze treze quatorze quinze dezesseis dezessete dezoito dezenove vinte",
  synonyms:
    "email=e-mail,mail,correio favorito=favorita,preferido,preferida,predileto,predileta,favoritos,favoritas km=quilômetro,quilômetros,quilómetros kg=quilo,quilos h=hora,horas min=minuto,minutos €=euro,euros r$=real,reais %=porcento carro=automóvel celular=telemóvel,telefone moro=vivo,resido mora=vive dois=duas mãe=mamãe pai=papai bicicleta=bike ônibus=autocarro",
  copula: "é|são|passou a ser|fica em|se chama|chama-se|mudou para|foi alterado para|foi alterada para|será|=|:",
  head: "first",
  complements: "de|do|da|dos|das|para|em|no|na|a|ao|por",
  attributes: {
    port: "porta|número da porta|porto",
    owner: "dono|dona|proprietário|proprietária",
    email: "email|endereço de email|endereço de e-mail",
    phone: "número de telefone|número do celular|número|telefone|celular|número de telemóvel",
    address: "endereço|morada",
    name: "nome|sobrenome|apelido de família",
    nickname: "apelido|alcunha",
    username: "usuário|nome de usuário|nome de utilizador|utilizador",
    password: "senha|palavra-passe|senha do wifi",
    code: "código|pin|número do cliente|número da conta|número do voo|iban|cpf|código de acesso|número de série|código da porta",
    version: "versão",
    price: "preço|custo|tarifa|mensalidade",
    rent: "aluguel|renda|aluguer",
    salary: "salário|ordenado",
    budget: "orçamento",
    deadline: "prazo|data limite|data de entrega|data de lançamento|vencimento",
    birthday: "aniversário|data de nascimento",
    age: "idade",
    weight: "peso",
    height: "altura",
    size: "tamanho|número do sapato|número de sapato|número de calçado",
    boss: "chefe|chefa|gerente|superior",
    lead: "líder|responsável|diretor|diretora|treinador|treinadora|gerente de projeto|presidente|contato|prefeito|prefeita|coordenador|coordenadora",
    doctor:
      "médico|médica|doutor|doutora|dentista|terapeuta|veterinário|veterinária|cabeleireiro|cabeleireira|contador|contadora|advogado|advogada|psicólogo|psicóloga",
    landlord: "senhorio|senhoria|locador|locadora",
    spouse: "esposa|esposo|marido|mulher|noivo|noiva",
    currency: "moeda",
    timezone: "fuso horário",
    url: "url|site|página|domínio",
    host: "host|ip|endereço ip|servidor",
    limit: "limite|cota|teto|capacidade|limiar|limite de requisições",
    timeout: "timeout|tempo limite",
    room: "sala|sala de reunião|quarto|assento|portão|escritório|vaga|plataforma",
    plate: "placa|matrícula",
    location: "local|localização|sede|cidade natal|local de nascimento",
    branch: "branch|ramo|branch principal",
    target:
      "destino|alvo do deploy|lema|mascote|slogan|tema|tipo sanguíneo|signo|nacionalidade|navegador padrão|editor padrão|título|codinome",
    colour: "cor",
    capital: "capital",
    interval: "intervalo|frequência",
    language: "língua materna|língua nativa",
    provider: "fornecedor|operadora|banco|seguradora|provedor|plano de saúde",
    time: "hora de início|horário de início|horário de saída|horário de abertura|horário de chegada",
  },
  favourites: [
    form(
      String.raw`(?:o |a |os |as )?(?<who>meu|minha|meus|minhas|nosso|nossa|seu|sua) (?:novo |nova )?(?<about>[\p{L} -]+?) (?:favorit[oa]s?|preferid[oa]s?|predilet[oa]s?)(?: agora)? (?:é|são|passou a ser)(?: agora)? (?:o |a |os |as |um |uma )?(?<value>.+?)`,
    ),
    form(
      String.raw`(?:o |a |os |as )?(?<value>[^.]+?) (?:é|são)(?: agora)? (?:o |a |os |as )?(?<who>meu|minha|meus|minhas|nosso|nossa|seu|sua) (?:novo |nova )?(?<about>[\p{L} -]+?) (?:favorit[oa]s?|preferid[oa]s?|predilet[oa]s?)`,
    ),
  ],
  facts: [
    [
      "residence",
      form(
        `${who}(?:agora )?(?:moro|mora|moramos|vivo|vive|vivemos|resido|reside)${soon} (?:em|no|na|nos|nas) (?<value>.+?)`,
      ),
    ],
    [
      "residence",
      form(
        `${who}(?:me mudei|mudei-me|mudei|se mudou|mudou-se|mudou|nos mudamos|mudámo-nos|mudamos)${soon}(?: de .+?)? para (?:o |a )?(?<value>.+?)`,
      ),
    ],
    [
      "employer",
      form(
        `${who}(?:agora )?(?:trabalho|trabalha|trabalhamos)${soon} (?:em|no|na|para|para o|para a|pra) (?<value>.+?)`,
      ),
    ],
    [
      "employer",
      form(
        `${who}(?:fui contratad[oa]|foi contratad[oa]|entrei|comecei a trabalhar|comecei|começou)${soon} (?:pela|pelo|em|na|no) (?<value>.+?)`,
      ),
    ],
    [
      "employer",
      form(
        `(?:o |a )?(?<who>meu|minha|nossa) (?:novo |nova )?(?:empregador|empresa|patrão)(?: atual)? é${soon} (?:o |a )?(?<value>.+?)`,
      ),
    ],
    ["occupation", form(`${who}(?:trabalho|trabalha)${soon} como (?<value>.+?)`)],
    ["occupation", form(`(?:a )?(?<who>minha|sua) (?:nova )?profissão é${soon} (?<value>.+?)`)],
    ["name", form(`(?:eu )?(?:me chamo|chamo-me)${soon} (?<value>.+?)`)],
    [
      "age",
      form(String.raw`${who}(?:tenho|tem|fiz|fez|completei|completou)${soon} (?<value>\d{1,3}|[a-záéíóúâêôãõç]+) anos`),
    ],
    ["birthday", form(`${who}(?:nasci|nasceu) (?:em|no dia|a) (?<value>.*?\\d.*?)`)],
    ["port", form(String.raw`(?<who>.+?) (?:escuta|roda|corre|funciona|está)${soon} na porta (?<value>\S+)`)],
    ["port", form(String.raw`(?<who>.+?) (?:usa|utiliza)${soon} a porta (?<value>\S+)`)],
    ["owner", form(`(?<who>.+?) pertence${soon} (?:a|ao|à) (?<value>.+?)`)],
    [
      "lead",
      form(
        `(?<who>.+?) (?:é|está|são)${soon} (?:dirigid[oa]|gerid[oa]|liderad[oa]|mantid[oa]|treinad[oa]|gerenciad[oa]) (?:por|pela|pelo) (?<value>.+?)`,
      ),
    ],
    ["price", form(String.raw`(?<who>.+?) custam?${soon} (?<value>.*?\d.*?)`)],
    ["limit", form(String.raw`(?<who>.+?) (?:está|é|são)${soon} limitad[oa]s? a (?<value>.*?\d.*?)`)],
    [
      "location",
      form(
        `(?<who>(?:o|a|nossa|nosso) .+?) (?:fica|localiza-se|está localizad[oa]|está hospedad[oa])${soon} (?:em|no|na) (?<value>.+?)`,
      ),
    ],
    ["height", form(String.raw`${who}(?:meço|mede|tenho|tem) (?<value>\d[\d.,]* ?(?:m|cm|metros?)) de altura`)],
    ["weight", form(String.raw`${who}(?:peso|pesa)${soon} (?<value>\d.*?)`)],
    ["size", form(String.raw`${who}(?:calço|calça)${soon} (?<value>\d+)`)],
    ["car", form(String.raw`${who}(?:dirijo|dirige|conduzo|conduz)${soon} (?:um |uma )(?<value>[\p{Lu}].*?)`)],
  ],
  also: "também|além disso|segundo|segunda|outro|outra|adicional|às vezes|de vez em quando|ambos|ambas|meio período|entre outros",
  changed:
    "agora|já não|não .{1,40} mais|hoje em dia|a partir de|desde ontem|desde hoje|em vez|em lugar|no lugar|correção|na verdade|afinal|novo|nova|deixei de|deixou de|mudei|mudou|mudamos|mudado|mudança|mudou para|trocado|troquei|trocou|trocamos|passei|passou|passou a ser|substituído|substituída|substituí|adiado|adiada|remarcado|remarcada|antecipado|transferido|transferida|renomeado|migrado|migramos|subiu|aumentou|baixou|diminuiu|virou|ultimamente",
  ended:
    "já não|não .{1,40} mais|nunca mais|parei de|parou de|deixei de|deixou de|larguei|abandonei|pedi demissão|saí da|saí do|saí de|cancelado|cancelada|cancelei|eliminado|acabou|terminado",
  replaced: [
    /(?:em vez de|em vez do|em vez da|em lugar de|no lugar de|no lugar do|no lugar da|ao invés de|ao invés do|ao invés da) (?:o |a )?(?<old>[^,.;]{1,120}?)(?:[,.;]|$)/iu,
    /(?:passei|passou|passamos|mudei|mudou|mudamos|migrei|migramos|troquei|trocamos) d[eoa] (?<old>[^,.;]{1,120}?) para /iu,
    /(?:troquei|trocou|trocamos|substituí|substituímos|substituiu) (?:o |a )?(?<old>[^,.;]{1,120}?) (?:pelo|pela|por) /iu,
  ],
  additive:
    "tenho tem temos possuo gosto gosta adoro amo odeio falo fala falamos conheço sei aprendo aprende jogo joga toco toca preciso quero alérgico alérgica coleciono visitei leio comprei adotei posso contém inclui",
  remarks: "e|ou|mas|porque|desde|com|para|quando|enquanto|que|onde|até|perto|se|como|embora|só|os|as|em|no|na|a",
  since: "desde|a partir|depois|até",
  dates:
    "segunda|terça|quarta|quinta|sexta|sábado|domingo|segunda-feira|terça-feira|quarta-feira|quinta-feira|sexta-feira|janeiro|fevereiro|março|abril|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro|hoje|amanhã|meio-dia|meia-noite|manhã|tarde|noite|semana|mês|ano|primavera|verão|outono|inverno|h|trimestre",
};
