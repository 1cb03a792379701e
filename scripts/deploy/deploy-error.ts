// An error that ends a deploy. The message is for the operator; `output` is what wrangler printed, which selects the advice.
export class DeployError extends Error {
  readonly output: string | undefined;

  constructor(message: string, output?: string) {
    super(message);
    this.output = output;
  }
}
