import { Command } from 'commander'

/** The command that demo agents run. It is hidden from the help, because people do not need it. */
export const demoAgentCommand = () =>
  new Command('demo-agent')
    .description('Run one heartbeat of a demo agent, without a model.')
    .helpOption(false)
    .allowUnknownOption()
    .allowExcessArguments()
    .action(async () => {
      const { runDemoAgent } = await import('../demo-agent/run.ts')
      process.exitCode = await runDemoAgent(process.argv.slice(3), process.env)
    })
