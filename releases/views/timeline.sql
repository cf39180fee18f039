-- One row a memory, in the order lived, without the long text.
-- needs: memories
SELECT
  character_id,
  row_number() OVER (PARTITION BY character_id ORDER BY age, id) AS step,
  id,
  age,
  stage,
  domain,
  tier,
  emotion_signature.primary AS emotion,
  emotion_signature.intensity AS intensity,
  content_summary,
  length(content_full) AS characters
FROM memories
