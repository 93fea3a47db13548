/** Writes the software bill of materials of what users install, as CycloneDX, to dist/sbom.cdx.json. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./test-run.ts";

interface Component {
  name: string;
  version: string;
  hashes?: { alg: string; content: string }[];
  licenses?: unknown[];
  properties?: { name: string; value: string }[];
}

interface Sbom {
  metadata: { component: Component };
  components: Component[];
}

const args = ["sbom", "--sbom-format", "cyclonedx", "--omit", "dev", "--package-lock-only"];
const sbom = JSON.parse(
  execFileSync("npm", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }),
) as Sbom;
// npm takes the name of the folder.
sbom.metadata.component.name = (JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { name: string }).name;
// The console is this project's own; what it bundles is listed.
sbom.components = sbom.components.filter(({ properties = [] }) =>
  properties.every(({ name, value }) => name !== "cdx:npm:package:private" || value !== "true"),
);
const incomplete = sbom.components.filter(
  ({ hashes = [], licenses = [] }) => hashes.length === 0 || licenses.length === 0,
);
for (const { name, version } of incomplete) console.error(`${name}@${version} has no hash or no licence.`);
const file = join(root, "dist", "sbom.cdx.json");
mkdirSync(join(root, "dist"), { recursive: true });
writeFileSync(file, `${JSON.stringify(sbom, null, 2)}\n`);
console.log(`${sbom.components.length} components written to ${file}.`);
if (incomplete.length > 0) process.exitCode = 1;
