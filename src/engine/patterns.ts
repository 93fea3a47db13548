/** Whether a name fits a pattern: `*` stands for anything between colons, `**` for anything at all. */
export function fitsPattern(name: string, pattern: string): boolean {
  return expression(pattern).test(name);
}

function expression(pattern: string): RegExp {
  const parts = pattern.split(/(\*\*|\*)/).map((part) => {
    if (part === "**") return ".*";
    return part === "*" ? "[^:]*" : part.replaceAll(/[.+?^${}()|[\]\\]/g, "\\$&");
  });
  return new RegExp(`^${parts.join("")}$`, "su");
}
