// Ends a move. The message is for the operator, and never holds a key.
export class MoveError extends Error {}
