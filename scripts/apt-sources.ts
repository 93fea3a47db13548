/** Reads apt's source files in both of their forms. The archive's address always comes from the machine, never from us. */

export interface AptArchive {
  uris: string;
  suites: string[];
  components: string[];
  /** The path of a keyring, or a key in full with its continuation lines. */
  signedBy?: string;
}

/** The entry of Debian's main archive: binary packages of the component `main`, and not the security updates. */
export function findMainArchive(files: { name: string; text: string }[]): AptArchive | undefined {
  const archives = files.flatMap(({ name, text }) => {
    if (name.endsWith(".sources")) return parseStanzas(text);
    return name.endsWith(".list") ? parseLines(text) : [];
  });
  return archives.find(
    ({ uris, suites, components }) =>
      /\/debian\/?(\s|$)/.test(uris) && components.includes("main") && suites.some((suite) => /^[a-z]+$/.test(suite)),
  );
}

/** The same archive, as a source of source packages of another suite. */
export function asSourceStanza(archive: AptArchive, suite: string): string {
  const lines = ["Types: deb-src", `URIs: ${archive.uris}`, `Suites: ${suite}`, "Components: main"];
  if (archive.signedBy !== undefined) lines.push(`Signed-By: ${archive.signedBy}`);
  return `${lines.join("\n")}\n`;
}

/** The form with fields, a blank line between two entries. */
function parseStanzas(text: string): AptArchive[] {
  const withoutComments = text.replace(/^#.*\n?/gm, "");
  return withoutComments.split(/\n\s*\n/).flatMap((stanza) => {
    const fields = new Map<string, string>();
    for (const match of stanza.matchAll(/^([\w-]+):[ \t]*(.*(?:\n[ \t].*)*)/gm)) {
      fields.set((match[1] ?? "").toLowerCase(), (match[2] ?? "").trimEnd());
    }
    const uris = fields.get("uris");
    const isOff = /^(no|false|off|0)$/i.test(fields.get("enabled") ?? "");
    if (uris === undefined || isOff || !words(fields.get("types")).includes("deb")) return [];
    return [
      {
        uris,
        suites: words(fields.get("suites")),
        components: words(fields.get("components")),
        signedBy: fields.get("signed-by"),
      },
    ];
  });
}

/** The form with one entry a line. */
function parseLines(text: string): AptArchive[] {
  return text.split("\n").flatMap((line) => {
    const match = /^\s*deb\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(\S+)\s+([^#]*)/.exec(line);
    if (match === null) return [];
    const [, options = "", uris = "", suite = "", components] = match;
    const signedBy = /(?:^|\s)signed-by=(\S+)/i.exec(options)?.[1]?.replaceAll(",", " ");
    return [{ uris, suites: [suite], components: words(components), signedBy }];
  });
}

function words(text: string | undefined): string[] {
  return (text ?? "").split(/\s+/).filter((word) => word !== "");
}
