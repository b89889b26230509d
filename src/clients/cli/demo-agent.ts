import { Command } from 'commander'

/** Not in the help: agents are started by it, people are not. */
export const demoAgentCommand = () =>
  new Command('demo-agent')
    .description('Play one agent for one heartbeat, without a model: what the demo company runs.')
    .helpOption(false)
    .allowUnknownOption()
    .allowExcessArguments()
    .action(async () => {
      const { runDemoAgent } = await import('../demo-agent/run.ts')
      process.exitCode = await runDemoAgent(process.argv.slice(3), process.env)
    })
