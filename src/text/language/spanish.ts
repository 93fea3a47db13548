import { delayPattern, type Lexicon } from "./lexicon.ts";

const lead =
  "^(?:(?:bueno|y|pero|por cierto|corrección|en realidad|ahora|actualmente|desde ayer|desde hoy|hoy en día|a partir de ahora|últimamente)[,:]? )*";
const who = String.raw`(?:(?<who>yo|nosotros|él|ella|(?:mi|mis|nuestro|nuestra|su|el|la) (?:[\p{L}'-]+ ){0,2}[\p{L}'-]+|[\p{Lu}][\p{L}-]+(?: [\p{Lu}][\p{L}-]+)?) )?`;
const soon = "(?: ahora| actualmente| ya| hoy en día| recientemente| los dos)*";
const form = (rest: string) => delayPattern(`${lead}${rest}[.!]*$`, "iu");

export const spanish: Lexicon = {
  code: "es",
  marks:
    "el la los las un una es son está yo mi mis su con por para del al y en que no se me nos nuestro nuestra vivo trabajo tengo de ya ahora muy soy uso a hemos he ha hay está lo le les al sus dejé",
  expansions: [
    [/\bal\b/giu, "a el"],
    [/\bdel\b/giu, "de el"],
  ],
  empty: "el la los las un una unos unas de soy es son está están somos ha han he se lo que ya yo nosotros",
  fillers:
    "por favor|recuerda(?: que)?|acuérdate(?: de)?(?: que)?|no olvides(?: que)?|ten en cuenta que|por cierto|realmente|muy|bastante|actualmente|en este momento|todavía|como dije|simplemente|de verdad",
  self: "me mí conmigo nos",
  own: "mi mis mío mía nuestro nuestra nuestros nuestras",
  others: "él ella ellos ellas su sus le",
  asking:
    "qué cuál cuáles quién quiénes cuándo dónde adónde cómo cuánto cuántos cuánta cuántas por-qué fue era puede puedes debo debe deben hay tu tus te ti usted dime dame nombra muestra este esta estos estas ese esa o pero si más muy todo todos ser tener hacer hago hacemos sin entre sobre como lo le les desde hasta",
  negations: "no nunca ningún ninguna ninguno sin ni jamás tampoco",
  numbers:
    "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete dieciocho diecinueve veinte",
  synonyms:
    "email=correo,e-mail,mail,correo-electrónico favorito=favorita,preferido,preferida,favoritos,favoritas km=kilómetro,kilómetros kg=kilo,kilos,kilogramos h=hora,horas min=minuto,minutos €=euro,euros %=porciento coche=carro,auto,automóvil móvil=celular,teléfono vivo=resido piso=apartamento,departamento mamá=madre papá=padre tele=televisión lunes=lunes bici=bicicleta ordenador=computadora",
  copula: "es|son|está en|ha pasado a ser|pasó a ser|pasa a ser|se llama|ha cambiado a|cambió a|será|queda en|=|:",
  head: "first",
  complements: "de|del|para|en|a|al|por",
  attributes: {
    port: "puerto|número de puerto",
    owner: "dueño|dueña|propietario|propietaria",
    email: "email|correo electrónico|email electrónico|dirección de correo|dirección de email",
    phone: "número de teléfono|número de móvil|número de celular|número|teléfono",
    address: "dirección|domicilio",
    name: "nombre|apellido|apellidos",
    nickname: "apodo",
    username: "usuario|nombre de usuario",
    password: "contraseña|clave|clave del wifi",
    code: "código|pin|número de cliente|número de cuenta|número de vuelo|iban|código de acceso|número de serie|código de la puerta",
    version: "versión",
    price: "precio|coste|costo|tarifa|cuota",
    rent: "alquiler|renta",
    salary: "sueldo|salario",
    budget: "presupuesto",
    deadline: "fecha límite|plazo|fecha de entrega|fecha de lanzamiento|vencimiento",
    birthday: "cumpleaños|fecha de nacimiento",
    age: "edad",
    weight: "peso",
    height: "estatura|altura",
    size: "talla|talla de zapatos|número de pie|talla de camisa",
    boss: "jefe|jefa|gerente|superior",
    lead: "líder|responsable|director|directora|entrenador|entrenadora|encargado|encargada|jefe de proyecto|jefa de proyecto|presidente|presidenta|contacto|alcalde|alcaldesa",
    doctor:
      "médico|médica|doctor|doctora|dentista|terapeuta|veterinario|veterinaria|peluquero|peluquera|contable|abogado|abogada|psicólogo|psicóloga",
    landlord: "casero|casera|arrendador|arrendadora",
    spouse: "esposa|esposo|marido|mujer|prometido|prometida",
    currency: "moneda|divisa",
    timezone: "zona horaria|huso horario",
    url: "url|sitio web|página web|dominio|web",
    host: "host|ip|dirección ip|servidor",
    limit: "límite|cuota máxima|tope|capacidad|umbral|límite de peticiones",
    timeout: "timeout|tiempo de espera",
    room: "sala|sala de reuniones|habitación|asiento|puerta de embarque|oficina|despacho|andén|plaza de garaje|aula",
    plate: "matrícula|placa|patente",
    location: "ubicación|lugar|sede|ciudad natal|lugar de nacimiento",
    branch: "rama|rama principal|rama por defecto",
    target:
      "destino|objetivo del despliegue|lema|mascota del equipo|mascota|eslogan|tema|grupo sanguíneo|signo|nacionalidad|navegador predeterminado|editor predeterminado|título|nombre en clave",
    colour: "color",
    capital: "capital",
    interval: "intervalo|frecuencia",
    language: "lengua materna|idioma materno",
    provider: "proveedor|operador|banco|aseguradora|compañía de internet|compañía telefónica|seguro médico",
    time: "hora de inicio|hora de salida|hora de apertura|hora de llegada|hora de dormir",
  },
  favourites: [
    form(
      String.raw`(?<who>mi|mis|nuestro|nuestra|su) (?:nuevo |nueva )?(?<about>[\p{L} -]+?) (?:favorit[oa]s?|preferid[oa]s?) (?:es|son|ahora es|ha pasado a ser|pasó a ser)(?: ahora)? (?:el |la |los |las |un |una )?(?<value>.+?)`,
    ),
    form(
      String.raw`(?:el |la |los |las )?(?<value>[^.]+?) (?:es|son)(?: ahora)? (?<who>mi|mis|nuestro|nuestra|su) (?:nuevo |nueva )?(?<about>[\p{L} -]+?) (?:favorit[oa]s?|preferid[oa]s?)`,
    ),
  ],
  facts: [
    [
      "residence",
      form(`${who}(?:ahora |ya )?(?:vivo|vive|vivimos|viven|resido|reside|residimos)${soon} en (?<value>.+?)`),
    ],
    [
      "residence",
      form(
        `${who}(?:me he|se ha|nos hemos|me|se|nos)${soon} (?:mudado|mudé|mudó|mudamos|trasladado|trasladé|trasladó|trasladamos)(?: de .+?)? a (?<value>.+?)`,
      ),
    ],
    [
      "employer",
      form(`${who}(?:ahora |ya )?(?:trabajo|trabaja|trabajamos|trabajan)${soon} (?:en|para) (?:la |el )?(?<value>.+?)`),
    ],
    [
      "employer",
      form(
        `${who}(?:he|ha)?${soon} ?(?:empecé a trabajar|empezado a trabajar|empezó a trabajar|entré|entrado|fichado|fichó|fiché)(?: a trabajar)? (?:en|por|para) (?<value>.+?)`,
      ),
    ],
    [
      "employer",
      form(
        `(?<who>mi|nuestra|nuestro) (?:nueva |nuevo )?(?:empresa|empleador|empleadora)(?: actual)? es${soon} (?<value>.+?)`,
      ),
    ],
    ["occupation", form(`${who}(?:trabajo|trabaja)${soon} (?:como|de) (?<value>.+?)`)],
    ["occupation", form(`(?<who>mi|su) (?:nueva )?(?:profesión|ocupación) es${soon} (?<value>.+?)`)],
    ["name", form(`(?:yo )?me llamo${soon} (?<value>.+?)`)],
    [
      "age",
      form(
        String.raw`${who}(?:tengo|tiene|cumplí|cumplió|he cumplido|ha cumplido)${soon} (?<value>\d{1,3}|[a-záéíóú]+) años`,
      ),
    ],
    ["birthday", form(`${who}(?:nací|nació) (?:el|en) (?<value>.*?\\d.*?)`)],
    [
      "port",
      form(String.raw`(?<who>.+?) (?:escucha|corre|funciona|se ejecuta|está)${soon} en el puerto (?<value>\S+)`),
    ],
    ["port", form(String.raw`(?<who>.+?) (?:usa|utiliza)${soon} el puerto (?<value>\S+)`)],
    ["owner", form(`(?<who>.+?) pertenece${soon} (?:a|al) (?<value>.+?)`)],
    [
      "lead",
      form(
        `(?<who>.+?) (?:es|está|son)${soon} (?:dirigid[oa]s?|gestionad[oa]s?|liderad[oa]s?|mantenid[oa]s?|entrenad[oa]s?) por (?<value>.+?)`,
      ),
    ],
    ["lead", form(`(?<value>[\\p{Lu}][\\p{L}]+) (?:dirige|lidera)${soon} (?<who>(?:el|la) .+?)`)],
    ["price", form(String.raw`(?<who>.+?) cuestan?${soon} (?<value>.*?\d.*?)`)],
    ["limit", form(String.raw`(?<who>.+?) (?:está|están)${soon} limitad[oa]s? a (?<value>.*?\d.*?)`)],
    [
      "location",
      form(
        `(?<who>(?:el|la|nuestra|nuestro) .+?) (?:se encuentra|está ubicad[oa]|está alojad[oa])${soon} en (?<value>.+?)`,
      ),
    ],
    ["height", form(String.raw`${who}mid[oe] (?<value>\d.*?)`)],
    ["weight", form(String.raw`${who}pes[oa]${soon} (?<value>\d.*?)`)],
    ["size", form(String.raw`${who}(?:calzo|calza)${soon} (?:un |una )?(?<value>\d+)`)],
    ["car", form(String.raw`${who}(?:conduzco|conduce|manejo|maneja)${soon} (?:un |una )(?<value>[\p{Lu}].*?)`)],
  ],
  also: "también|además|segundo|segunda|otro|otra|adicional|a veces|de vez en cuando|ambos|ambas|a media jornada|entre otros",
  changed:
    "ahora|ya no|hoy en día|a partir de|desde ayer|desde hoy|en lugar|en vez|corrección|en realidad|al final|nuevo|nueva|dejé de|dejó de|mudado|mudé|mudó|mudamos|trasladado|trasladó|cambiado|cambié|cambió|cambiamos|cambiado a|cambió a|pasado|pasó|pasé|se pasó|reemplazado|sustituido|aplazado|aplazada|pospuesto|pospuesta|retrasado|adelantado|movido|movió|se movió|renombrado|migrado|subió|subido|bajó|bajado|ha pasado a ser|pasó a ser|volvió|últimamente",
  ended:
    "ya no|nunca más|no .{1,40} más|dejé de|dejó de|dejado de|he dejado|ha dejado|dejé|abandoné|abandonado|renuncié|cancelado|cancelada|cancelamos|eliminado|se acabó|terminado",
  replaced: [
    /(?:en lugar del?|en vez del?) (?:el |la |los |las |un |una )?(?<old>[^,.;]{1,120}?)(?:[,.;]|$)/iu,
    /(?:pasado|pasé|pasó|cambiado|cambié|cambió|migrado|migré|mudado|mudé) de (?<old>[^,.;]{1,120}?) a /iu,
    /(?:cambiado|reemplazado|sustituido|cambié|reemplacé) (?:el |la )?(?<old>[^,.;]{1,120}?) por /iu,
  ],
  additive:
    "tengo tiene tenemos poseo gusta gustan encanta encantan amo odio hablo habla hablamos conozco sé aprendo aprende juego juega necesito quiero alérgico alérgica colecciono visité leo compré adopté adoptado puedo toco incluye contiene",
  remarks: "y|o|pero|porque|desde|con|para|cuando|mientras|que|donde|hasta|cerca|si|como|aunque|solo|los|en|a|por",
  since: "desde|a partir|después|hasta",
  dates:
    "lunes|martes|miércoles|jueves|viernes|sábado|domingo|sábados|domingos|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre|hoy|mañana|mediodía|medianoche|tarde|noche|semana|mes|año|primavera|verano|otoño|invierno|hora|h|trimestre",
};
