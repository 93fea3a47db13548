import { createRequire } from "node:module";
import type { Parser } from "@lezer/common";

/** How to read the syntax tree of a language: which nodes are imports, declarations or containers. */
export interface Grammar {
  imports: readonly string[];
  /** Listed with their signature: everything before the body. */
  declarations: readonly string[];
  bodies: readonly string[];
  /** Nodes that are traversed but not listed. */
  wrappers: readonly string[];
  /** Whether a signature is visible to others. */
  isPublic(signature: string): boolean;
}

export type Language = "JavaScript" | "TypeScript" | "Python" | "Rust" | "Go" | "Java" | "C" | "C++" | "PHP";

const always = () => true;

const script: Grammar = {
  imports: ["ImportDeclaration"],
  declarations: [
    "FunctionDeclaration",
    "ClassDeclaration",
    "InterfaceDeclaration",
    "TypeAliasDeclaration",
    "EnumDeclaration",
    "VariableDeclaration",
    "NamespaceDeclaration",
    "ExportGroup",
    "MethodDeclaration",
  ],
  bodies: ["Block", "ClassBody", "ObjectType", "EnumBody", "Equals"],
  wrappers: ["ExportDeclaration", "AmbientDeclaration", "ClassBody"],
  isPublic: (signature) => signature.startsWith("export"),
};

const cFamily: Grammar = {
  imports: ["PreprocDirective"],
  declarations: [
    "FunctionDefinition",
    "Declaration",
    "ClassSpecifier",
    "StructSpecifier",
    "UnionSpecifier",
    "EnumSpecifier",
    "TypeDefinition",
    "AliasDeclaration",
  ],
  bodies: ["CompoundStatement", "FieldDeclarationList", "EnumeratorList", "InitDeclarator", "FieldInitializerList"],
  wrappers: [
    "NamespaceDefinition",
    "LinkageSpecification",
    "TemplateDeclaration",
    "CompoundStatement",
    "DeclarationList",
  ],
  isPublic: always,
};

export const grammars: Readonly<Record<Language, Grammar>> = {
  JavaScript: script,
  TypeScript: script,
  Python: {
    imports: ["ImportStatement"],
    declarations: ["FunctionDefinition", "ClassDefinition", "AssignStatement"],
    bodies: ["Body", "AssignOp"],
    wrappers: ["DecoratedStatement", "Body"],
    isPublic: (signature) => !/^(?:async )?(?:def |class )?_/.test(signature),
  },
  Rust: {
    imports: ["UseDeclaration", "ExternCrateDeclaration"],
    declarations: [
      "FunctionItem",
      "StructItem",
      "EnumItem",
      "TraitItem",
      "ImplItem",
      "ModItem",
      "ConstItem",
      "StaticItem",
      "TypeItem",
      "MacroDefinition",
    ],
    bodies: ["Block", "FieldDeclarationList", "EnumVariantList", "DeclarationList", "=", "{"],
    wrappers: ["DeclarationList"],
    isPublic: (signature) => /^(?:pub|impl|macro_rules)/.test(signature),
  },
  Go: {
    imports: ["ImportDecl"],
    declarations: ["FunctionDecl", "MethodDecl", "TypeSpec", "VarSpec", "ConstSpec"],
    bodies: ["Block", "StructType", "InterfaceType", "="],
    wrappers: ["TypeDecl", "VarDecl", "ConstDecl", "SpecList"],
    isPublic: (signature) => /^(?:type |func (?:\([^)]*\) )?)?\p{Lu}/u.test(signature),
  },
  Java: {
    imports: ["ImportDeclaration"],
    declarations: [
      "ClassDeclaration",
      "InterfaceDeclaration",
      "EnumDeclaration",
      "RecordDeclaration",
      "AnnotationTypeDeclaration",
      "MethodDeclaration",
      "ConstructorDeclaration",
    ],
    bodies: ["ClassBody", "InterfaceBody", "EnumBody", "RecordBody", "Block", "ConstructorBody"],
    wrappers: ["ClassBody", "InterfaceBody", "EnumBody", "RecordBody"],
    isPublic: (signature) => !/\bprivate\b/.test(signature),
  },
  C: cFamily,
  "C++": cFamily,
  PHP: {
    imports: ["NamespaceUseDeclaration"],
    declarations: [
      "FunctionDefinition",
      "ClassDeclaration",
      "InterfaceDeclaration",
      "TraitDeclaration",
      "EnumDeclaration",
      "MethodDeclaration",
      "ConstDeclaration",
    ],
    bodies: ["Block", "DeclarationList", "EnumBody"],
    wrappers: ["NamespaceDefinition", "DeclarationList", "EnumBody", "Block"],
    isPublic: (signature) => !/\b(?:private|protected)\b/.test(signature),
  },
};

const extensions: Readonly<Record<string, Language>> = {
  js: "JavaScript",
  jsx: "JavaScript",
  mjs: "JavaScript",
  cjs: "JavaScript",
  ts: "TypeScript",
  tsx: "TypeScript",
  mts: "TypeScript",
  cts: "TypeScript",
  py: "Python",
  pyi: "Python",
  rs: "Rust",
  go: "Go",
  java: "Java",
  c: "C",
  h: "C",
  cc: "C++",
  cpp: "C++",
  cxx: "C++",
  hpp: "C++",
  hh: "C++",
  hxx: "C++",
  php: "PHP",
};

const mediaTypes: readonly (readonly [RegExp, Language])[] = [
  [/\b(?:x-)?(?:javascript|ecmascript|jsx)$/, "JavaScript"],
  [/\b(?:x-)?(?:typescript|tsx)$/, "TypeScript"],
  [/\b(?:x-)?python(?:-script)?$/, "Python"],
  [/\b(?:x-)?rust(?:src)?$/, "Rust"],
  [/\b(?:x-)?go$/, "Go"],
  [/\b(?:x-)?java(?:-source)?$/, "Java"],
  [/\bx-c(?:\+\+|pp)(?:src|hdr)?$/, "C++"],
  [/\bx-c(?:src|hdr)?$/, "C"],
  [/\b(?:x-)?(?:httpd-)?php$/, "PHP"],
];

export function findLanguage(extension: string, mediaType: string): Language | undefined {
  if (Object.hasOwn(extensions, extension)) return extensions[extension];
  return mediaTypes.find(([pattern]) => pattern.test(mediaType))?.[1];
}

const require = createRequire(import.meta.url);

/** Loads the parser of a language on demand: loading all of them would double the start-up time of a command. */
export function loadParser(language: Language): Parser {
  switch (language) {
    case "JavaScript":
      return (require("@lezer/javascript") as typeof import("@lezer/javascript")).parser.configure({ dialect: "jsx" });
    case "TypeScript": {
      // Generic arrow functions are rarer than JSX tags, and the parser recovers from them.
      const { parser } = require("@lezer/javascript") as typeof import("@lezer/javascript");
      return parser.configure({ dialect: "jsx ts" });
    }
    case "Python":
      return (require("@lezer/python") as typeof import("@lezer/python")).parser;
    case "Rust":
      return (require("@lezer/rust") as typeof import("@lezer/rust")).parser;
    case "Go":
      return (require("@lezer/go") as typeof import("@lezer/go")).parser;
    case "Java":
      return (require("@lezer/java") as typeof import("@lezer/java")).parser;
    case "C":
    case "C++":
      return (require("@lezer/cpp") as typeof import("@lezer/cpp")).parser;
    case "PHP":
      return (require("@lezer/php") as typeof import("@lezer/php")).parser;
  }
}
