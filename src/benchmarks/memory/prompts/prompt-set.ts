/** Facts with a question about each, and prompts that no fact has anything to do with. */
export interface PromptSet {
  language: string;
  related: readonly (readonly [fact: string, question: string])[];
  unrelated: readonly string[];
}
