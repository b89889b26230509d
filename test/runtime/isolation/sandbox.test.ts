import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { argvOf } from '../../../src/platform/programs.ts'
import { findBubblewrap } from '../../../src/runtime/isolation/bubblewrap.ts'
import { findProgram } from '../../../src/runtime/process/capabilities.ts'
import { markedProcesses } from '../../../src/runtime/process/process-table.ts'
import { createTestApp } from '../../helpers.ts'
import { createTestRuns, createTestRunsIn, type TestRuns } from '../../runs.ts'

const found = await findBubblewrap('')
const skip = 'missing' in found ? found.missing : false

/** Creates a test app with sandboxed runs, and a home directory that contains a secret and credentials. */
async function arrange(t: TestContext, overrides: NonNullable<Parameters<typeof createTestRuns>[1]> = {}) {
  const home = mkdtempSync(path.join(tmpdir(), 'service-home-'))
  t.after(() => rmSync(home, { recursive: true }))
  for (const folder of ['.ssh', '.claude']) mkdirSync(path.join(home, folder))
  writeFileSync(path.join(home, '.ssh/id_test'), 'not for agents')
  writeFileSync(path.join(home, '.claude/.credentials.json'), '{"signedIn":true}')
  const environment = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    SSH_AUTH_SOCK: path.join(home, '.ssh/agent.sock'),
    XDG_RUNTIME_DIR: home,
    ...overrides.environment,
  }
  const runs = await createTestRuns(t, { sandbox: 'bubblewrap', ...overrides, environment })
  return { runs, home }
}

const agentOf = (runs: TestRuns, script: string, config: object = {}) =>
  runs.agentThat('succeed.js', { config: { command: '/bin/sh', args: ['-c', script], ...config } })

/** A replacement for claude that runs a script and reports a result. */
const programThat = (does: string) => `#!/bin/sh
case " $* " in *" --help "* | *" --version "*) exit 0 ;; esac
${does}
echo '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"session_id":"s"}'
`

/** Runs a script as an agent and waits until the run ends. */
async function outputOf(runs: TestRuns, script: string, config: object = {}) {
  const agent = await agentOf(runs, script, config)
  await runs.make('POST', `/api/agents/${agent}/heartbeat/invoke`)
  await runs.runUntilIdle()
  const run = (await runs.runs()).at(-1)
  return { agent, run, text: (await runs.request('GET', `/api/runs/${run.id}/log`)).body.text as string }
}

test('a sandboxed run can read only its own folders of the data directory', { skip }, async (t) => {
  const { runs } = await arrange(t)
  const data = runs.config.dataDir
  writeFileSync(path.join(data, 'work/note'), 'of the run')
  const { text, agent } = await outputOf(
    runs,
    `find ${data} -maxdepth 2 | sort; cat ${data}/service.db ${data}/server.lock 2>&1 | head -3; cat ${data}/work/note; echo; touch ${data}/here 2>&1; echo done > ${data}/work/result`,
  )
  const displayed = text.split('\n').filter((line) => line.startsWith(data))
  const skills = displayed.filter((line) => line.startsWith(path.join(data, 'skills')))
  assert.deepEqual(
    displayed.filter((line) => !skills.includes(line)),
    ['', 'agents', `agents/${agent}`, 'work', 'work/note'].map((name) => path.join(data, name)),
  )
  assert.match(text, /service\.db.*No such file/)
  assert.match(text, /of the run/)
  assert.match(text, /Read-only file system/)
  assert.equal(readFileSync(path.join(data, 'work/result'), 'utf8'), 'done\n')
})

test('a sandboxed run has its own home directory, with only the credentials of its program from the user', {
  skip,
}, async (t) => {
  const { runs, home } = await arrange(t)
  const { text } = await outputOf(
    runs,
    'exec 2>&1; cd "$HOME" && find . -type f; cat .ssh/id_test; touch /usr/mine /etc/mine; echo x > mine; cat mine',
  )
  assert.doesNotMatch(text, /not for agents|credentials/)
  assert.match(text, /\/usr\/mine.*Read-only[\s\S]*\/etc\/mine.*Read-only/)
  assert.match(text, /x\n$/)
  assert.throws(() => readFileSync(path.join(home, 'mine')), { code: 'ENOENT' })
})

test('a sandboxed run can see and signal only its own processes', { skip }, async (t) => {
  const { runs } = await arrange(t)
  const { text } = await outputOf(
    runs,
    `exec 2>&1; echo "me $$"; ls /proc | grep -c '^[0-9]*$'; kill -0 ${process.pid} && echo reached; kill -9 -1; echo alive`,
  )
  assert.match(text, /^me 2\n[0-9]\n/)
  assert.doesNotMatch(text, /reached/)
})

test('a sandboxed run can neither enter other namespaces nor change mounts', { skip }, async (t) => {
  const { runs } = await arrange(t)
  const data = runs.config.dataDir
  const attempts = [
    'nsenter -t 1 -m -p true',
    'mount -t proc proc /tmp',
    `umount ${data}`,
    `unshare --user --map-root-user --mount umount ${data}`,
    `unshare --user --map-root-user --mount mount -o remount,rw /usr`,
    'chroot /proc/1/root true',
  ]
  const { text } = await outputOf(
    runs,
    `${attempts.map((attempt) => `${attempt} 2>/dev/null && echo "worked: ${attempt}"`).join('\n')}\ncat /proc/self/status`,
  )
  assert.doesNotMatch(text, /worked/)
  assert.match(text, /CapEff:\s+0+\n/)
  assert.match(text, /NoNewPrivs:\s+1/)
})

test('a sandboxed run reaches no file or socket of the server or the user through another process', {
  skip,
}, async (t) => {
  const { runs, home } = await arrange(t)
  const secret = path.join(home, '.ssh/id_test')
  const sockets = [path.join(home, '.ssh/agent.sock'), path.join(runs.config.dataDir, 'server.sock')]
  const folder = mkdtempSync(path.join(tmpdir(), 'service-sockets-'))
  t.after(() => rmSync(folder, { recursive: true }))
  sockets.push(path.join(folder, 'docker.sock'))
  for (const socket of sockets) {
    const server = createServer((connection) => connection.end('reached')).listen(socket)
    t.after(() => server.close())
  }
  // The paths lead through processes, whose view may be wider than that of the run.
  const files = [secret, path.join(runs.config.dataDir, 'service.db')].flatMap((file) =>
    ['/proc/1/root', '/proc/self/root', '/proc/self/cwd/../../../../../..', `/proc/${process.pid}/root`].map(
      (root) => `${root}${file}`,
    ),
  )
  const script = `const { readFileSync, readdirSync, readlinkSync } = require('node:fs')
    const { connect } = require('node:net')
    for (const file of ${JSON.stringify(files)}) { try { readFileSync(file); console.log('read', file) } catch {} }
    for (const pid of readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name))) {
      let open = []
      try { open = readdirSync('/proc/' + pid + '/fd') } catch {}
      for (const fd of open) {
        try {
          const target = readlinkSync('/proc/' + pid + '/fd/' + fd)
          if (target.includes(${JSON.stringify(home)}) || target.endsWith('service.db')) console.log('open', pid, target)
        } catch {}
      }
    }
    for (const socket of ${JSON.stringify(sockets)}) connect(socket).on('data', () => console.log('connected', socket)).on('error', () => {})
    console.log('tried', Object.keys(process.env).filter((name) => /SOCK|DBUS|XDG_RUNTIME/.test(name)))`
  const { run, text } = await outputOf(runs, '', { command: process.execPath, args: ['-e', script] })
  assert.deepEqual([run.status, text], ['succeeded', 'tried []\n'])
})

test('a sandboxed run cannot change kernel settings, even if the server runs as root', { skip }, async (t) => {
  const { runs } = await arrange(t)
  // A successful write would not change the value.
  const files = ['/proc/sys/kernel/core_pattern', '/proc/sys/vm/swappiness', '/proc/sys/kernel/panic']
  const { text } = await outputOf(
    runs,
    files.map((file) => `value=$(cat ${file}); echo "$value" > ${file} && echo "wrote ${file}"`).join('\n'),
  )
  assert.doesNotMatch(text, /^wrote/m)
  assert.match(text, /core_pattern: Read-only file system|core_pattern: Permission denied/)
})

test('stopping a sandboxed run ends all its processes, including escaped ones', { skip }, async (t) => {
  const { runs } = await arrange(t)
  const { run } = await outputOf(runs, '', {
    command: process.execPath,
    args: [path.resolve('test/agents/escapes.js'), 'tag'],
  })
  assert.deepEqual([run.status, run.exitCode], ['succeeded', 0])
  assert.equal(markedProcesses().has(run.id), false)
})

test('a sandboxed program gets SIGTERM and can finish in its grace period', { skip }, async (t) => {
  const { runs } = await arrange(t)
  const begun = path.join(runs.config.dataDir, 'work/begun')
  const agent = await agentOf(
    runs,
    `trap 'sleep 0.5; echo finished; exit 7' TERM; touch ${begun}; while :; do sleep 0.1; done`,
    { graceSec: 20 },
  )
  await runs.make('POST', `/api/agents/${agent}/heartbeat/invoke`)
  const running = runs.next('run.running')
  await runs.tick()
  await running
  const [{ id }] = await runs.runs()
  for (let tries = 0; tries < 400; tries++) {
    try {
      readFileSync(begun)
      break
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 25))
    }
  }
  const finished = runs.next('run.finished')
  await runs.make('POST', `/api/runs/${id}/cancel`)
  await finished
  const [run] = await runs.runs()
  assert.deepEqual([run.status, run.exitCode], ['cancelled', 7])
  assert.match((await runs.request('GET', `/api/runs/${id}/log`)).body.text, /finished/)
})

test('a sandboxed program has its credentials, and keeps its sessions between runs', { skip }, async (t) => {
  const { runs, home } = await arrange(t)
  const program = path.join(home, 'claude')
  const script = programThat(
    'cat "$HOME/.claude/.credentials.json"; echo; ls "$HOME/.claude/projects"; echo kept > "$HOME/.claude/projects/session"; ' +
      `echo '{"signedIn":"again"}' > "$HOME/.claude/.credentials.json"`,
  )
  writeFileSync(program, script, { mode: 0o755 })
  const agent = await runs.make('POST', `/api/companies/${runs.companyId}/agents`, {
    name: 'Ada',
    adapterConfig: { command: program },
  })
  for (let i = 0; i < 2; i++) {
    await runs.make('POST', `/api/agents/${agent.id}/heartbeat/invoke`)
    await runs.runUntilIdle()
  }
  const logs = await Promise.all(
    (await runs.runs()).map(async ({ id }) => (await runs.request('GET', `/api/runs/${id}/log`)).body.text),
  )
  assert.match(logs[0], /^\{"signedIn":true\}/)
  assert.match(logs[1], /^\{"signedIn":"again"\}\n\nsession\n/m)
  assert.match(readFileSync(path.join(home, '.claude/.credentials.json'), 'utf8'), /again/)
})

test('opencode stores its database with its sessions in a sandbox', { skip }, async (t) => {
  const { runs, home } = await arrange(t)
  const program = path.join(home, 'opencode')
  const file = '"$HOME/.local/share/opencode/$OPENCODE_DB"'
  writeFileSync(program, `#!/bin/sh\n[ -f ${file} ] && echo "kept it"\ntouch ${file}\n`, { mode: 0o755 })
  const agent = await runs.make('POST', `/api/companies/${runs.companyId}/agents`, {
    name: 'Ada',
    adapterType: 'opencode_local',
    adapterConfig: { command: program },
  })
  for (let i = 0; i < 2; i++) {
    await runs.make('POST', `/api/agents/${agent.id}/heartbeat/invoke`)
    await runs.runUntilIdle()
  }
  const { id } = (await runs.runs()).at(-1)
  assert.match((await runs.request('GET', `/api/runs/${id}/log`)).body.text, /kept it/)
})

test('a run without an available sandbox does not start, and the error says what to do', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'service-bwrap-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(path.join(folder, 'bwrap'), '#!/bin/sh\necho "No permissions to create new namespace" >&2; exit 1\n', {
    mode: 0o755,
  })
  const { runs } = await arrange(t, { environment: { PATH: `${folder}:${process.env.PATH}` } })
  const { run, agent } = await outputOf(runs, 'echo ran')
  assert.deepEqual([run.status, run.errorCode, run.startedAt], ['failed', 'sandbox_unavailable', null])
  assert.match(run.error, /No permissions to create new namespace.*Allow user namespaces/)
  const displayed = (await runs.request('GET', `/api/agents/${agent}`)).body
  assert.equal(displayed.status, 'idle')
  assert.match(displayed.heldBecause, /sandbox/)
  const { gates } = await runs.make('POST', `/api/agents/${agent}/rehearse`, {})
  assert.ok(gates.some(({ code }: { code: string }) => code === 'sandbox_unavailable'))
})

test('the setting of an agent overrides the setting of the instance', { skip }, async (t) => {
  const { runs } = await arrange(t)
  const off = await outputOf(runs, 'ls "$HOME/.ssh"', { sandbox: 'off' })
  assert.match(off.text, /id_test/)
  const { runs: others } = await arrange(t, { sandbox: 'off' })
  const on = await outputOf(others, 'ls "$HOME/.ssh" 2>&1', { sandbox: 'bubblewrap' })
  assert.doesNotMatch(on.text, /id_test/)
})

test('an agent cannot disable the sandbox for a hire, even in a company that trusts hires; the board can', {
  skip,
}, async (t) => {
  const programs = mkdtempSync(path.join(tmpdir(), 'service-programs-'))
  t.after(() => rmSync(programs, { recursive: true }))
  writeFileSync(path.join(programs, 'claude'), programThat('echo "home:"; ls -A "$HOME"; ls "$HOME/.ssh" 2>&1'), {
    mode: 0o755,
  })
  const { runs } = await arrange(t, { environment: { PATH: `${programs}:${process.env.PATH}` } })
  const company = `/api/companies/${runs.companyId}`
  await runs.make('PATCH', company, { requireBoardApprovalForNewAgents: false, trustHires: true })
  const ceo = await runs.make('POST', `${company}/agents`, { name: 'Eve', role: 'ceo', adapterType: 'none' })
  const { token: key } = await runs.make('POST', `/api/agents/${ceo.id}/keys`, { name: 'k' })
  const hired = await runs.as(key)('POST', `${company}/agent-hires`, { name: 'Sam', adapterConfig: { sandbox: 'off' } })
  assert.equal(hired.status, 201)
  const { agent } = hired.body
  assert.deepEqual([agent.status, agent.unapprovedPaths], ['idle', ['sandbox']])
  const logOfRun = async () => {
    await runs.make('POST', `/api/agents/${agent.id}/heartbeat/invoke`)
    await runs.runUntilIdle()
    return (await runs.request('GET', `/api/runs/${(await runs.runs()).at(-1).id}/log`)).body.text
  }
  assert.match(await logOfRun(), /^home:\n(?![\s\S]*id_test)/)
  const refused = await runs.as(key)('PATCH', `/api/agents/${agent.id}`, { adapterConfig: { sandbox: 'off' } })
  assert.equal(refused.status, 403)
  const [{ id: revisionId }] = await runs.make('GET', `/api/agents/${agent.id}/config-revisions`)
  await runs.make('POST', `/api/agents/${agent.id}/approve-configuration`, { revisionId })
  assert.match(await logOfRun(), /id_test/)
})

test('a working directory that contains the home directory is refused', { skip }, async (t) => {
  const { runs, home } = await arrange(t)
  const { run } = await outputOf(runs, 'ls', { cwd: home })
  assert.equal(run.errorCode, 'sandbox_folder')
})

test('a sandboxed program gets a copy of its settings, so its changes start nothing outside', {
  skip,
}, async (t) => {
  const { runs, home } = await arrange(t)
  const settings = path.join(home, '.claude.json')
  writeFileSync(settings, '{"of":"the user"}')
  const program = path.join(home, 'claude')
  writeFileSync(
    program,
    programThat(
      'cat "$HOME/.claude.json"; echo "{\\"mcpServers\\":{}}" > "$HOME/.claude.json"; cat "$HOME/.claude.json"',
    ),
    {
      mode: 0o755,
    },
  )
  const agent = await runs.make('POST', `/api/companies/${runs.companyId}/agents`, {
    name: 'Ada',
    adapterConfig: { command: program },
  })
  await runs.make('POST', `/api/agents/${agent.id}/heartbeat/invoke`)
  await runs.runUntilIdle()
  const [run] = await runs.runs()
  assert.match(
    (await runs.request('GET', `/api/runs/${run.id}/log`)).body.text,
    /^\{"of":"the user"\}\{"mcpServers":\{\}\}\n/,
  )
  assert.equal(readFileSync(settings, 'utf8'), '{"of":"the user"}')
})

for (const swapped of ['the file', 'its folder'] as const) {
  test(`the instructions of a sandboxed run are not read through a symbolic link that a run may have created: ${swapped}`, {
    skip,
  }, async (t) => {
    const { runs, home } = await arrange(t)
    const folder = path.join(home, 'project')
    mkdirSync(path.join(folder, 'docs'), { recursive: true })
    const file = path.join(folder, 'docs/AGENTS.md')
    writeFileSync(file, 'Work well.')
    const program = path.join(home, 'claude')
    writeFileSync(program, programThat('cat > /dev/null'), { mode: 0o755 })
    const agent = await runs.make('POST', `/api/companies/${runs.companyId}/agents`, {
      name: 'Ada',
      adapterConfig: { command: program, cwd: folder, instructionsFilePath: file },
    })
    const runOnce = async () => {
      await runs.make('POST', `/api/agents/${agent.id}/heartbeat/invoke`)
      await runs.runUntilIdle()
      return (await runs.runs()).at(-1)
    }
    assert.equal((await runOnce()).status, 'succeeded')
    rmSync(path.join(folder, 'docs'), { recursive: true })
    mkdirSync(path.join(home, 'secret'))
    writeFileSync(path.join(home, 'secret/AGENTS.md'), 'not for agents')
    if (swapped === 'its folder') symlinkSync(path.join(home, 'secret'), path.join(folder, 'docs'))
    else {
      mkdirSync(path.join(folder, 'docs'))
      symlinkSync(path.join(home, 'secret/AGENTS.md'), file)
    }
    const run = await runOnce()
    assert.deepEqual([run.status, run.errorCode], ['failed', 'instructions_missing'])
    assert.match(run.error, /a link leads out of its folder/)
  })
}

test('a sandboxed run does not follow a link that another run put in the place of its working directory', {
  skip,
}, async (t) => {
  const { runs, home } = await arrange(t)
  const shared = path.join(home, 'shared')
  mkdirSync(path.join(shared, 'part'), { recursive: true })
  mkdirSync(path.join(home, 'secret'))
  await agentOf(runs, 'true', { cwd: shared })
  const agent = await agentOf(runs, 'pwd; ls', { cwd: path.join(shared, 'part') })
  const runOnce = async () => {
    await runs.make('POST', `/api/agents/${agent}/heartbeat/invoke`)
    await runs.runUntilIdle()
    return (await runs.runs()).at(-1)
  }
  assert.equal((await runOnce()).status, 'succeeded')
  rmSync(path.join(shared, 'part'), { recursive: true })
  symlinkSync(path.join(home, 'secret'), path.join(shared, 'part'))
  const run = await runOnce()
  assert.deepEqual([run.status, run.errorCode], ['failed', 'sandbox_folder'])
  assert.match(run.error, /part is a link to .*secret, which a run may have made/)
})

test('a link that the board made may be the working directory of a sandboxed run', { skip }, async (t) => {
  const { runs, home } = await arrange(t)
  mkdirSync(path.join(home, 'project'))
  symlinkSync(path.join(home, 'project'), path.join(home, 'link'))
  const { run, text } = await outputOf(runs, 'touch made; pwd', { cwd: path.join(home, 'link') })
  assert.deepEqual([run.status, text], ['succeeded', `${path.join(home, 'link')}\n`])
  assert.equal(readFileSync(path.join(home, 'project/made'), 'utf8'), '')
})

test('a sandboxed program that a link names finds the modules beside its own file', { skip }, async (t) => {
  const { runs, home } = await arrange(t)
  const modules = path.join(home, 'lib/node_modules')
  for (const name of ['tool', 'part']) mkdirSync(path.join(modules, name), { recursive: true })
  writeFileSync(path.join(modules, 'part/index.js'), 'module.exports = "found its part"')
  writeFileSync(path.join(modules, 'tool/tool.js'), '#!/usr/bin/env node\nconsole.log(require("part"))\n', {
    mode: 0o755,
  })
  mkdirSync(path.join(home, 'tools'))
  symlinkSync('../lib/node_modules/tool/tool.js', path.join(home, 'tools/tool'))
  const { text } = await outputOf(runs, '', { command: path.join(home, 'tools/tool'), args: [] })
  assert.equal(text, 'found its part\n')
})

test('a sandboxed run does not see where a link leads that a run put in the place of its program', {
  skip,
}, async (t) => {
  const { runs, home } = await arrange(t)
  const folder = path.join(home, 'project')
  for (const name of [folder, path.join(home, 'private/bin')]) mkdirSync(name, { recursive: true })
  writeFileSync(path.join(home, 'private/bin/key'), '#!/bin/sh\n', { mode: 0o755 })
  symlinkSync(path.join(home, 'private/bin/key'), path.join(folder, 'agent'))
  const { run } = await outputOf(runs, '', { command: path.join(folder, 'agent'), args: [], cwd: folder })
  assert.deepEqual([run.status, run.errorCode], ['failed', 'sandbox_folder'])
  assert.match(run.error, /project\/agent is a link to .*private\/bin\/key, which a run may have made/)
})

test('a sandboxed run cannot write a folder that contains the data directory', { skip }, async (t) => {
  const { runs } = await arrange(t, { environment: { PATH: process.env.PATH ?? '', HOME: '/nonexistent' } })
  const { run } = await outputOf(runs, 'true', { cwd: path.dirname(runs.config.dataDir) })
  assert.deepEqual([run.status, run.errorCode], ['failed', 'sandbox_folder'])
  assert.match(run.error, /contains the data directory of the server/)
})

test('a program whose options are read is sandboxed, because a run may have written it', { skip }, async (t) => {
  const { runs, home } = await arrange(t)
  const folder = path.join(home, 'project')
  mkdirSync(folder)
  const program = path.join(folder, 'claude')
  const attack = `cat ${home}/.ssh/id_test > ${folder}/stolen; echo x > ${home}/ran; echo "--plugin-dir"; echo tried >&2`
  writeFileSync(program, `#!/bin/sh\ncase " $* " in *" --help "*) ${attack};; esac\n`, { mode: 0o755 })
  const agent = await runs.make('POST', `/api/companies/${runs.companyId}/agents`, {
    name: 'Ada',
    adapterConfig: { command: program, cwd: folder },
  })
  const { argv } = await runs.make('POST', `/api/agents/${agent.id}/rehearse`, {})
  assert.ok(
    argv.some((arg: string) => arg.startsWith('--plugin-dir=')),
    'its options were read',
  )
  await runs.make('POST', `/api/agents/${agent.id}/heartbeat/invoke`)
  await runs.runUntilIdle()
  assert.deepEqual([path.join(home, 'ran'), path.join(folder, 'stolen')].map(existsSync), [false, false])
})

/** Calls keyctl (KEYCTL_GET_KEYRING_ID, session keyring) on this machine. It prints the error, or a number. */
const KEYCTL = `import ctypes, os, platform
libc = ctypes.CDLL(None, use_errno=True)
number = 250 if platform.machine() == 'x86_64' else 219
print(libc.syscall(number, 0, -3, 0), ctypes.get_errno())`

test('a sandboxed run cannot use the keyrings of the server', {
  skip: skip || (findProgram('python3', '/usr/bin:/bin') === null && 'python3 is missing'),
}, async (t) => {
  const { runs } = await arrange(t)
  const { text } = await outputOf(runs, '', { command: '/usr/bin/python3', args: ['-c', KEYCTL] })
  assert.equal(text, '-1 38\n')
})

test('a run inherits no open file with which the server was started', {
  skip: process.platform !== 'linux',
}, async (t) => {
  const app = createTestApp(t, { environment: { PATH: process.env.PATH ?? '' } })
  const runs = await createTestRunsIn(app, { shim: ['/bin/sh', '-c', 'exec "$0" "$@" 7< /', ...argvOf('shim')] })
  const { text } = await outputOf(runs, 'exec 2>&1; ls /dev/fd/7/ || echo closed')
  assert.match(text, /^ls: .*\/dev\/fd\/7.*\nclosed\n$/)
})
