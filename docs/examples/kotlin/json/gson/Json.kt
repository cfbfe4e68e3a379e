/** A refusal out of its JSON, by Gson. */

import org.openapitools.client.infrastructure.Serializer
import org.openapitools.client.models.Refusal

fun refusalOf(text: String): Refusal? = Serializer.gson.fromJson(text, Refusal::class.java)

/** This library takes a member without a type as it is: there is nothing to prepare. */
fun prepareJson() = Unit
