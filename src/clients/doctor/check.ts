/** One result of a check. */
export interface Finding {
  status: 'ok' | 'warning' | 'broken'
  /** The state, in one line. */
  message: string
  /** How to repair it, if that is necessary. */
  hint?: string
  /** The same facts for programs. */
  details?: Record<string, unknown>
}

/** The installation that the checks examine. */
export interface Installation {
  dataDir: string
  host: string
  port: number
  portGiven: boolean
  environment: Record<string, string>
  sandbox: 'off' | 'bubblewrap'
  pidNamespace: boolean
}

/** One check of an installation. It changes nothing. An error that it throws becomes a finding. */
export interface Check {
  id: string
  title: string
  run(installation: Installation): Finding[] | Promise<Finding[]>
}

export interface Result extends Finding {
  id: string
  title: string
}

/** Runs all checks in parallel. Returns their findings in the order of the checks. */
export async function runChecks(installation: Installation, checks: readonly Check[]): Promise<Result[]> {
  const results = await Promise.all(
    checks.map(async ({ id, title, run }) => {
      try {
        return (await run(installation)).map((finding) => ({ id, title, ...finding }))
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error)
        return [{ id, title, status: 'broken' as const, message }]
      }
    }),
  )
  return results.flat()
}
