// Runs on /docs: Swagger UI shows our own document, with all sections closed at first.
window.SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#docs",
  deepLinking: true,
  docExpansion: "none",
  filter: true,
  defaultModelsExpandDepth: 0,
  // By default Swagger UI sends the document's URL to a validator on another origin.
  validatorUrl: null,
});
