// Ends a move. The message is for the operator, and never contains a key.
export class MoveError extends Error {}
