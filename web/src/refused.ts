// What the daemon says when it refuses. The page and the editor share it.

export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly hint: string,
  ) {
    super(message);
  }

  /** From the body of an answer; `otherwise` is said where it has no message. */
  static from(status: number, body: unknown, otherwise: string): Refused {
    const { message, hint } = (body ?? {}) as { message?: unknown; hint?: unknown };
    const text = (value: unknown, instead: string) => (typeof value === 'string' ? value : instead);
    return new Refused(status, text(message, otherwise), text(hint, ''));
  }
}

/** Whether somebody is there who no longer knows us; any call will do to find out. */
export async function isTurnedAway(call: () => Promise<unknown>): Promise<boolean> {
  try {
    await call();
    return false;
  } catch (error) {
    return error instanceof Refused && error.status === 401;
  }
}
