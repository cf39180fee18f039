-- One row an option: its text, whether it is the gold, and whose decision it is.
-- needs: mcqs, mcq_keys
SELECT
  q.question_id,
  q.character_id,
  q.scenario_id,
  q.stage,
  o.label,
  o.content,
  o.label = k.answer AS is_gold,
  list_filter(k.sources, lambda s: s.label = o.label)[1].character_id AS source_character_id
FROM mcqs AS q
JOIN mcq_keys AS k USING (question_id),
UNNEST(q.options) AS u(o)
