import { isQuestion } from "../../text/index.ts";

/** Words that refer to the past, in several languages; they trigger recall for prompts of any length. */
const asksForThePast =
  /\b(?:remember|recall|remind|last time|earlier|previously|as (?:i|we) said|you (?:told|said|mentioned)|i (?:told|said|mentioned)|weißt du noch|erinner\w*|letztes mal|vorhin|damals|tu te souviens|la dernière fois|te acuerdas|la última vez|recuerdas)\b|记得|记住|上次|之前|以前|刚才|说过|提到过|回忆|覚えて|前回|この前|기억|지난번/iu;
const commands = /^\/(?:recall|remember|context)\b/i;
const quotedFile = /["'`“‘「『][^"'`“‘「『”’」』\n]{0,200}\.[A-Za-z0-9]{1,8}["'`”’」』]/u;
const slashCommand = /^\/[a-z][\w-]*/i;
const smallTalk =
  /^(?:hi|hello|hey|yo|good (?:morning|afternoon|evening|night)|how are you|what'?s up|bye|goodbye|see you|thanks?(?: you)?(?: so much| a lot)?|thx|ty|ok(?:ay)?|k|yes|yeah|yep|no|nope|sure|great|cool|nice|perfect|awesome|done|got it|i see|understood|sounds good|go on|continue|hallo|moin|guten (?:morgen|tag|abend)|danke(?: schön)?|ja|nein|alles klar|passt|bonjour|salut|merci|oui|non|d'accord|hola|buenos días|gracias|vale|sí|你好|您好|早上好|晚上好|再见|谢谢|好的?|嗯+|是的|不是|行|可以|继续|明白了?|こんにちは|ありがとう|はい|いいえ|안녕(?:하세요)?|네|감사합니다)[\s!.,?。！？~、]*$/iu;
const cjk = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

const charactersLeast = 15;
const charactersLeastCjk = 6;

/** Whether a prompt triggers recall. Greetings, commands and short replies do not. */
export function wantsRecall(prompt: string): boolean {
  const text = prompt.trim();
  if (commands.test(text) || quotedFile.test(text)) return true;
  if (slashCommand.test(text)) return false;
  if (asksForThePast.test(text)) return true;
  if (!/[\p{L}\p{N}]/u.test(text) || smallTalk.test(text)) return false;
  const least = cjk.test(text) ? charactersLeastCjk : charactersLeast;
  return [...text].length >= least || isQuestion(text);
}

/** The search query of a prompt: without a leading command. */
export function recallQuery(prompt: string): string {
  return prompt.trim().replace(commands, "").trim() || prompt;
}

const request =
  /^(?:(?:please|can you|could you|bitte|por favor|per favore|пожалуйста)[, ]+)?(?:tell|show|find|search|list|explain|give|remind|help|write|summari[sz]e|translate|look|check|compare|describe|zeig|sag|such|finde|erklär|nenn|gib|schreib|montre|dis|cherche|explique|donne|muestra|dime|busca|explica|dame|mostra|dimmi|cerca|spiega|mostre|diga|procure|покажи|скажи|найди|объясни|напиши)(?![\p{L}])|^(?:请|告诉|帮|查|找)|(?:教えて|見せて|探して|ください|줘|주세요)[。.!！]*$/iu;

/** Whether a prompt states something and asks for nothing. */
export function isStatement(prompt: string): boolean {
  const text = prompt.trim();
  if (!/[\p{L}\p{N}]/u.test(text) || slashCommand.test(text)) return false;
  return !isQuestion(text) && !request.test(text);
}
