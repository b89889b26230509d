import assert from 'node:assert/strict'
import { test } from 'node:test'
import { filesOfPatch, linesOfPatch } from '../../../src/clients/web/app/kit/patch.ts'

const PATCH = `diff --git a/query.sql b/query.sql
index 3b18e51..a042389 100644
--- a/query.sql
+++ b/query.sql
@@ -1,3 +1,3 @@
 select 1;
--- an old comment
+++ counter
 select 2;
\\ No newline at end of file
diff --git a/old.ts b/new.ts
similarity index 96%
rename from old.ts
rename to new.ts
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-last words
diff --git a/mark.png b/mark.png
new file mode 100644
Binary files /dev/null and b/mark.png differ
`

test('a patch is split by the new path of each file', () => {
  assert.deepEqual([...filesOfPatch(PATCH).keys()], ['query.sql', 'new.ts', 'gone.txt', 'mark.png'])
})

test('a changed line that looks like a file header is displayed', () => {
  assert.deepEqual(linesOfPatch(filesOfPatch(PATCH).get('query.sql')!), [
    { kind: 'gap', text: '@@ -1,3 +1,3 @@' },
    { kind: 'same', text: 'select 1;' },
    { kind: 'removed', text: '-- an old comment' },
    { kind: 'added', text: '++ counter' },
    { kind: 'same', text: 'select 2;' },
    { kind: 'gap', text: 'No newline at end of file' },
  ])
  assert.deepEqual(linesOfPatch(filesOfPatch(PATCH).get('gone.txt')!), [
    { kind: 'gap', text: '@@ -1 +0,0 @@' },
    { kind: 'removed', text: 'last words' },
  ])
})
