/** A question mark at the end of a text, also within quotes or brackets. */
const markAtEnd = /[?？؟]["'”’」』)\]\s]{0,8}$/u;
const markOrWord =
  /[?？]|^(?:who|what|when|where|why|which|how|is|are|do|does|did|can|could|was|were|wer|was|wann|wo|warum|wie|qui|que|quand|où|pourquoi|comment|quién|qué|cuándo|dónde)\b|谁|什么|哪|几|吗|呢|多少|怎么|为什么/iu;

/** Whether a text ends with a question mark. */
export function endsInQuestion(text: string): boolean {
  return markAtEnd.test(text);
}

/** Whether a text asks something: it has a question mark, or begins with a word of questions. */
export function isQuestion(text: string): boolean {
  return markOrWord.test(text);
}
