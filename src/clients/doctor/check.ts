/** What a check found. */
export interface Finding {
  status: 'ok' | 'warning' | 'broken'
  /** What is so, in one line. */
  message: string
  /** What to do about it, where something is to be done. */
  hint?: string
  /** The figures, for programs. */
  details?: Record<string, unknown>
}

/** What the checks look at. */
export interface Patient {
  dataDir: string
  host: string
  port: number
  portGiven: boolean
  environment: Record<string, string>
  sandbox: 'off' | 'bubblewrap'
  pidNamespace: boolean
}

/** One thing that is looked at. It changes nothing, and what it throws is a finding too. */
export interface Check {
  id: string
  title: string
  look(patient: Patient): Finding[] | Promise<Finding[]>
}

export interface Result extends Finding {
  id: string
  title: string
}

/** Does the checks, all at once, and gives what they found in their order. */
export async function examine(patient: Patient, checks: readonly Check[]): Promise<Result[]> {
  const results = await Promise.all(
    checks.map(async ({ id, title, look }) => {
      try {
        return (await look(patient)).map((finding) => ({ id, title, ...finding }))
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error)
        return [{ id, title, status: 'broken' as const, message }]
      }
    }),
  )
  return results.flat()
}
