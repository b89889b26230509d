import { runDemoAgent } from './run.ts'

process.exitCode = await runDemoAgent(process.argv.slice(2), process.env)
