// Runs on /docs: Swagger UI shows our own document, with all sections closed at first.

const inside = (document, path) => path.reduce((at, name) => at?.[name], document);

/** A part of the document in which each reference is replaced by the schema that it names. A circular reference is kept. */
function resolved(part, document, within = []) {
  if (typeof part !== "object" || part === null) return part;
  if (Array.isArray(part)) return part.map((each) => resolved(each, document, within));
  const { $ref: ref } = part;
  if (typeof ref !== "string" || !ref.startsWith("#/")) {
    return Object.fromEntries(Object.entries(part).map(([name, each]) => [name, resolved(each, document, within)]));
  }
  if (within.includes(ref)) return part;
  // Such as `#/components/schemas/Invoice`.
  return resolved(inside(document, ref.slice("#/".length).split("/")), document, [...within, ref]);
}

window.SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#docs",
  deepLinking: true,
  docExpansion: "none",
  filter: true,
  defaultModelsExpandDepth: 0,
  // By default Swagger UI sends the document's URL to a validator on another origin.
  validatorUrl: null,
  // By default Swagger UI resolves the whole document again for each opened section, which takes eight seconds on a fast machine. Our document only
  // refers to itself, so only the opened part is resolved.
  plugins: [
    {
      fn: {
        resolveSubtree: async (document, path) => ({
          spec: resolved(inside(document, path), document),
          errors: [],
        }),
      },
    },
  ],
});
