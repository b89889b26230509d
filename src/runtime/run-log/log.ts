import path from 'node:path'
import type { Config } from '../../platform/config.ts'

export { readLog } from './read-log.ts'

/** Where a run keeps its log, its facts and its exit. */
export const runFolder = (config: Pick<Config, 'dataDir'>, runId: string) => path.join(config.dataDir, 'runs', runId)
