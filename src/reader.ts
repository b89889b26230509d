import { serveJobs } from './platform/database/reader-thread.ts'

// The entry point of the reader's threads: see src/platform/database/reader.ts.
serveJobs({
  search: async () => (await import('./work/search/search.ts')).searchJob,
  'issues.find': async () => (await import('./work/issue/find.ts')).findIssuesJob,
  'database.check': async () => (await import('./clients/database-check/database-check.ts')).checkDatabaseJob,
  'asset.linked': async () => (await import('./organization/asset/retention-queries.ts')).linkedAssetsJob,
  checkpoint: async () => (await import('./platform/database/checkpoint.ts')).checkpointJob,
  'hash-password': async () => (await import('./access/auth/password-jobs.ts')).hashPasswordJob,
  'verify-password': async () => (await import('./access/auth/password-jobs.ts')).verifyPasswordJob,
  'instance.metrics': async () => (await import('./organization/instance/metrics.ts')).metricsJob,
  'dashboard.idle-agents': async () => (await import('./work/dashboard/dashboard.ts')).idleAgentsJob,
  'cost-groups': async () => (await import('./work/cost-report/groups.ts')).costGroupsJob,
  'agents.org': async () => (await import('./organization/agent/org-job.ts')).orgJob,
  'read-package': async () => (await import('./portability/read/read-package.ts')).readPackageJob,
  'plan-import': async () => (await import('./portability/plan/plan-job.ts')).planImportJob,
  export: async () => (await import('./portability/export/export.ts')).exportJob,
  'read-skills': async () => (await import('./organization/skill/read-source.ts')).readSkillsJob,
  'parse-import-body': async () => (await import('./portability/plan/import-body.ts')).importBodyJob,
  'parse-skill-body': async () => (await import('./organization/skill/import-body.ts')).skillBodyJob,
})
