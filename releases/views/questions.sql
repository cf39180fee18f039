-- One row a question: who, where, the four options side by side, and the key.
-- needs: mcqs, mcq_keys
SELECT
  q.question_id,
  q.character_id,
  q.scenario_id,
  q.stage,
  q.options[1].content AS a,
  q.options[2].content AS b,
  q.options[3].content AS c,
  q.options[4].content AS d,
  k.answer,
  list_extract(q.options, ascii(k.answer) - ascii('A') + 1).content AS gold
FROM mcqs AS q
JOIN mcq_keys AS k USING (question_id)
