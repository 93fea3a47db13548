/** The lines every summary has, by whose first words they are found again when summaries are summarised. */
export const filesPrefix = "Files: ";
export const noFiles = "Files: none";
export const expandPrefix = "Expand for details about: ";
export const truncatedMarker = "[Truncated for context management]";
