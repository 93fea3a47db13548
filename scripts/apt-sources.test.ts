import { describe, expect, test } from "vitest";
import { asSourceStanza, findMainArchive } from "./apt-sources.ts";

const stanzas = `# a comment
Types: deb
# where it was taken from
URIs: http://mirror.example/debian-security
Suites: bookworm-security
Components: main

Types: deb
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: /usr/share/keyrings/key.gpg
`;

describe("the machine's apt sources", () => {
  test("name the main archive in the form with fields", () => {
    const archive = findMainArchive([{ name: "debian.sources", text: stanzas }]);
    expect(archive).toEqual({
      uris: "http://mirror.example/debian",
      suites: ["bookworm", "bookworm-updates"],
      components: ["main", "contrib"],
      signedBy: "/usr/share/keyrings/key.gpg",
    });
  });

  test("name it in the form with lines, past commented and foreign ones", () => {
    const text = [
      "# deb http://old.example/debian buster main",
      "deb http://apt.example/tool stable main",
      "deb-src http://mirror.example/debian bookworm main",
      "deb [arch=amd64 signed-by=/a.gpg] http://mirror.example/debian/ bookworm main non-free # ours",
    ].join("\n");
    expect(findMainArchive([{ name: "/etc/apt/sources.list", text }])).toEqual({
      uris: "http://mirror.example/debian/",
      suites: ["bookworm"],
      components: ["main", "non-free"],
      signedBy: "/a.gpg",
    });
  });

  test("leave out entries that are switched off and files apt would not read", () => {
    const off = stanzas.replaceAll("Types: deb\n", "Types: deb\nEnabled: no\n");
    expect(findMainArchive([{ name: "debian.sources", text: off }])).toBeUndefined();
    expect(findMainArchive([{ name: "debian.sources.bak", text: stanzas }])).toBeUndefined();
  });

  test("become a source of another suite's source packages, key and all", () => {
    const key = "\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n abc";
    const archive = { uris: "http://mirror.example/debian", suites: ["bookworm"], components: ["main"], signedBy: key };
    expect(asSourceStanza(archive, "trixie")).toBe(
      `Types: deb-src\nURIs: http://mirror.example/debian\nSuites: trixie\nComponents: main\nSigned-By: ${key}\n`,
    );
  });
});
