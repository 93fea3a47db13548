/** The texts of several replies read as paragraphs of one. */
export const betweenReplies = "\n\n";
