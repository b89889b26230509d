import type { Command } from 'commander'

/** A noun, whose verbs are loaded when it is asked for: a program with all of them starts no slower. */
export interface LazyCommand {
  name: string
  description: string
  load(): Promise<Command>
}

export const NOUNS: readonly LazyCommand[] = [
  lazy('company', 'companies: the outermost scope', async () => (await import('./company.ts')).companyCommand()),
  lazy('agent', 'configured programs that do the work', async () => (await import('./agent.ts')).agentCommand()),
  lazy('issue', 'pieces of work', async () => (await import('./issue.ts')).issueCommand()),
  lazy('goal', 'what the work is for', async () => (await import('./goal.ts')).goalCommand()),
  lazy('project', 'issues that belong together', async () => (await import('./project.ts')).projectCommand()),
  lazy('routine', 'issues that come back on a schedule', async () => (await import('./routine.ts')).routineCommand()),
  lazy('skill', 'instructions and files that agents use', async () => (await import('./skill.ts')).skillCommand()),
  lazy('approval', 'what waits for your decision', async () => (await import('./approval.ts')).approvalCommand()),
  lazy('run', 'what agents did, one heartbeat each', async () => (await import('./run.ts')).runCommand()),
  lazy('cost', 'what was spent, and on what', async () => (await import('./cost.ts')).costCommand()),
  lazy('activity', 'the record of who did what', async () => (await import('./activity.ts')).activityCommand()),
]

function lazy(name: string, description: string, load: () => Promise<Command>): LazyCommand {
  return { name, description, load }
}
