/** The routes of the gateway's own OpenAPI document, with an example for every parameter and body. */
import type { Stage } from "../e2e/gateway-stage.ts";

interface Schema {
  $ref?: string;
  type?: string | string[];
  example?: unknown;
  enum?: unknown[];
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  properties?: Record<string, Schema>;
}
interface Operation {
  parameters?: { name: string; in: string; schema: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
}

export interface DocumentedRoute {
  method: string;
  path: string;
  query: { name: string; example: string }[];
  /** A body with every documented field, optional ones too; undefined where the route has none. */
  body: unknown;
}

export async function readDocumentedRoutes(stage: Stage): Promise<DocumentedRoute[]> {
  const { json } = await stage.send("GET", "/api/openapi.json", { token: "all" });
  const document = json as {
    paths: Record<string, Record<string, Operation>>;
    components: { schemas: Record<string, Schema> };
  };
  const exampleOf = (schema: Schema, depth = 0): unknown => {
    if (depth > 8) return "x";
    if (schema.$ref !== undefined) {
      return exampleOf(document.components.schemas[schema.$ref.split("/").at(-1) ?? ""] ?? {}, depth + 1);
    }
    if (schema.example !== undefined) return schema.example;
    if (schema.enum) return schema.enum[0];
    const [first] = schema.anyOf ?? schema.oneOf ?? [];
    if (first) return exampleOf(first, depth + 1);
    const [type] = [schema.type].flat();
    if (type === "array") return [exampleOf(schema.items ?? {}, depth + 1)];
    if (type === "boolean") return true;
    if (type === "number" || type === "integer") return 1;
    if (type !== "object") return "x";
    const fields = Object.entries(schema.properties ?? {});
    return Object.fromEntries(fields.map(([name, field]) => [name, exampleOf(field, depth + 1)]));
  };
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { parameters = [], requestBody }]) => {
      const schema = requestBody && Object.values(requestBody.content)[0]?.schema;
      const query = parameters
        .filter((one) => one.in === "query")
        .map(({ name, schema: its }) => ({ name, example: String(exampleOf(its)) }));
      return { method: method.toUpperCase(), path, query, body: schema && exampleOf(schema) };
    }),
  );
}
