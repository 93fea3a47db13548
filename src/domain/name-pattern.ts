/** Whether a name matches a pattern: `*` matches anything between two colons, `**` matches anything. */
export function matchesPattern(name: string, pattern: string): boolean {
  return toRegExp(pattern).test(name);
}

function toRegExp(pattern: string): RegExp {
  const parts = pattern.split(/(\*\*|\*)/).map((part) => {
    if (part === "**") return ".*";
    return part === "*" ? "[^:]*" : part.replaceAll(/[.+?^${}()|[\]\\]/g, "\\$&");
  });
  return new RegExp(`^${parts.join("")}$`, "su");
}
