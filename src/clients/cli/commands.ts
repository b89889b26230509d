import type { Command } from 'commander'
import type { RunServer } from './server-process.ts'

/** A command whose code is loaded on demand, which keeps the start of the program fast. */
export interface LazyCommand {
  name: string
  description: string
  group: 'Server:' | 'Work:' | 'Company:' | 'Tools:'
  load(): Promise<Command>
}

/**
 * Lists all commands.
 *
 * @param loadServer loads the function that starts the server in this process
 */
export const commandsOf = (loadServer: () => Promise<RunServer>): readonly LazyCommand[] => [
  ...grouped('Server:', [
    ['start', 'start the server', async () => (await import('./start.ts')).startCommand(loadServer)],
    [
      'demo',
      'run a demo company of five agents, without a model',
      async () => (await import('./demo.ts')).demoCommand(loadServer),
    ],
    [
      'status',
      'show the state of the server and of its companies',
      async () => (await import('./status.ts')).statusCommand(),
    ],
    ['stop', 'stop the server', async () => (await import('./stop.ts')).stopCommand()],
    ['freeze', 'stop all runs until `thaw`', async () => (await import('./freeze.ts')).freezeCommand()],
    ['thaw', 'end a freeze', async () => (await import('./freeze.ts')).thawCommand()],
    [
      'placement',
      'run agents on other machines',
      async () => (await import('./nouns/placement.ts')).placementCommand(),
    ],
    ['doctor', 'check the machine and the data', async () => (await import('./doctor.ts')).doctorCommand()],
    ['verify', 'verify that the activity was not altered', async () => (await import('./verify.ts')).verifyCommand()],
    ['backup', 'create and check a backup', async () => (await import('./backup.ts')).backupCommand()],
    ['restore', 'replace the data by a backup', async () => (await import('./restore.ts')).restoreCommand()],
    ['upgrade', 'show how to upgrade', async () => (await import('./upgrade.ts')).upgradeCommand()],
    ['logs', "print the server's log", async () => (await import('./logs.ts')).logsCommand()],
    [
      'reset-password',
      'create a password-reset link',
      async () => (await import('./reset-password.ts')).resetPasswordCommand(),
    ],
  ]),
  ...grouped('Work:', [
    ['inbox', 'items that need your decision or reply', async () => (await import('./nouns/inbox.ts')).inboxCommand()],
    ['issue', 'pieces of work', async () => (await import('./nouns/issue.ts')).issueCommand()],
    ['document', 'markdown texts of issues', async () => (await import('./nouns/document.ts')).documentCommand()],
    ['attachment', 'files on issues', async () => (await import('./nouns/attachment.ts')).attachmentCommand()],
    [
      'approval',
      'requests for decisions of the board',
      async () => (await import('./nouns/approval.ts')).approvalCommand(),
    ],
    ['run', 'executions of agents', async () => (await import('./nouns/run.ts')).runCommand()],
    [
      'routine',
      'issues that are created on a schedule',
      async () => (await import('./nouns/routine.ts')).routineCommand(),
    ],
    ['goal', 'the purposes of the work', async () => (await import('./nouns/goal.ts')).goalCommand()],
    [
      'project',
      'groups of issues, with their folder',
      async () => (await import('./nouns/project.ts')).projectCommand(),
    ],
    ['label', 'coloured words on issues', async () => (await import('./nouns/label.ts')).labelCommand()],
    [
      'search',
      'search issues, comments, agents, projects, goals',
      async () => (await import('./nouns/overview.ts')).searchCommand(),
    ],
    ['why', 'show what happened on an issue, and why', async () => (await import('./nouns/why.ts')).whyCommand()],
    ['wait', 'wait until an issue is done', async () => (await import('./wait.ts')).waitCommand()],
  ]),
  ...grouped('Company:', [
    ['company', 'the outermost scope', async () => (await import('./nouns/company.ts')).companyCommand()],
    ['template', 'ready-made companies', async () => (await import('./nouns/overview.ts')).templateCommand()],
    ['agent', 'configured programs that do the work', async () => (await import('./nouns/agent.ts')).agentCommand()],
    ['org', 'the org chart', async () => (await import('./nouns/overview.ts')).orgCommand()],
    [
      'dashboard',
      'the current numbers of a company',
      async () => (await import('./nouns/overview.ts')).dashboardCommand(),
    ],
    ['cost', 'costs and budgets', async () => (await import('./nouns/cost.ts')).costCommand()],
    ['activity', 'the record of all actions', async () => (await import('./nouns/activity.ts')).activityCommand()],
    ['skill', 'instructions and files that agents use', async () => (await import('./nouns/skill.ts')).skillCommand()],
    [
      'secret',
      'values that the env of agents refers to',
      async () => (await import('./nouns/secret.ts')).secretCommand(),
    ],
    ['webhook', 'URLs that receive the events', async () => (await import('./nouns/webhook.ts')).webhookCommand()],
    ['member', 'the people of a company', async () => (await import('./nouns/member.ts')).memberCommand()],
    ['invite', 'invitation links for people', async () => (await import('./nouns/member.ts')).inviteCommand()],
  ]),
  ...grouped('Tools:', [
    ['login', 'store a server and your token', async () => (await import('./login.ts')).loginCommand()],
    ['logout', 'remove a stored server', async () => (await import('./login.ts')).logoutCommand()],
    ['profile', 'the stored servers', async () => (await import('./login.ts')).profileCommand()],
    ['whoami', 'who you are to the server', async () => (await import('./nouns/overview.ts')).whoamiCommand()],
    ['session', 'where you are signed in', async () => (await import('./nouns/session.ts')).sessionCommand()],
    ['token', 'your credentials for scripts', async () => (await import('./nouns/token.ts')).tokenCommand()],
    ['mcp', 'serve tools for an agent program', async () => (await import('./mcp.ts')).mcpCommand()],
    ['api', 'send any request to the API', async () => (await import('./api.ts')).apiCommand()],
    [
      'completion',
      'print the completion script of a shell',
      async () => (await import('./completion.ts')).completionCommand(),
    ],
  ]),
]

type Entry = [name: string, description: string, load: () => Promise<Command>]

function grouped(group: LazyCommand['group'], entries: readonly Entry[]): LazyCommand[] {
  return entries.map(([name, description, load]) => ({ name, description, group, load }))
}
