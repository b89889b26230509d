/** Why a run cannot be started; it becomes the run's error. */
export class NotStartable extends Error {
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** Notes that something stands in a run's way; the plan goes on, so that all of it is told at once. */
export type Refuse = (code: string, message: string) => void
