// Runs on /docs: Swagger UI shows our own document, with all chapters closed at first.
window.SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#docs",
  deepLinking: true,
  docExpansion: "none",
  filter: true,
  defaultModelsExpandDepth: 0,
  // By default it sends the document's address to a validator on another origin.
  validatorUrl: null,
});
