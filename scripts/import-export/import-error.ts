/** An error that ends an import. The message is for the operator. */
export class ImportError extends Error {}
