// An error that ends a move. The message is for the operator, and never contains a key.
export class MoveError extends Error {}
